// Kubernetes' own API, as the package kubernetes-models has its schemas: `kubernetes.mjs FOLDER FILE.json...`, FOLDER holding
// node_modules, each file a list of objects. Prints what is wrong, exit 1 then; objects of other projects are passed over.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, ...files] = process.argv.slice(2);
const groups = { "apps/v1": "apps/v1", v1: "v1" };

let checked = 0;
for (const file of files) {
  for (const object of JSON.parse(readFileSync(file, "utf8"))) {
    const group = groups[object.apiVersion];
    if (!group) continue;
    const path = resolve(folder, "node_modules/kubernetes-models", group, "index.js");
    const kinds = await import(pathToFileURL(path));
    try {
      new kinds[object.kind](object).validate();
      checked += 1;
    } catch (error) {
      console.log(`${file}: ${object.kind}: ${error.message}`);
      process.exitCode = 1;
    }
  }
}
console.log(`${checked} objects`);
