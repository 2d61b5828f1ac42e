# One ctest per NAME.test: the whole program, one behaviour each; run_case.py says what a case can hold.
set(run_case Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/run_case.py)
if(TARGET kvfit)
  file(GLOB cases CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.test)
  foreach(case ${cases})
    cmake_path(GET case STEM name)
    add_test(NAME cli_${name} COMMAND ${run_case} $<TARGET_FILE:kvfit> ${PROJECT_VERSION} ${case})
    set_tests_properties(cli_${name} PROPERTIES LABELS cli ENVIRONMENT "KVFIT_FAKES=${KVFIT_FAKES}")
  endforeach()
endif()

# The runner itself, with echo in kvfit's place: one case that holds, the others each break one expectation.
add_test(NAME runner_holds COMMAND ${run_case} /bin/echo ${PROJECT_VERSION} ${CMAKE_CURRENT_LIST_DIR}/runner/holds.case)
foreach(name text exit order lacks unexpected value)
  add_test(NAME runner_notices_${name}
    COMMAND ${run_case} /bin/echo ${PROJECT_VERSION} ${CMAKE_CURRENT_LIST_DIR}/runner/${name}.case)
  set_tests_properties(runner_notices_${name} PROPERTIES PASS_REGULAR_EXPRESSION "${name}.case: kvfit")
endforeach()
