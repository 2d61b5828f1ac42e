#include "runtime/http.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <cstddef>

namespace kvfit::runtime {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::uint64_t kMostBody = std::uint64_t{64} << 20;
constexpr unsigned kHttp11 = 11;

// A connection for one exchange; every step ends with success, a failure, or when the time is up.
class Exchange {
 public:
  explicit Exchange(double seconds) : stream_(context_) {
    stream_.expires_after(std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000)));
  }

  bool connect(std::uint16_t port) {
    stream_.async_connect(asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), port),
                          [this](beast::error_code code) { code_ = code; });
    return finish();
  }

  bool send(http::request<http::string_body>& request) {
    http::async_write(stream_, request, [this](beast::error_code code, std::size_t) { code_ = code; });
    return finish();
  }

  bool receive(http::response_parser<http::string_body>& parser) {
    parser.body_limit(kMostBody);
    http::async_read(stream_, buffer_, parser, [this](beast::error_code code, std::size_t) { code_ = code; });
    return finish();
  }

 private:
  bool finish() {
    context_.restart();
    context_.run();
    return !code_;
  }

  asio::io_context context_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  beast::error_code code_;
};

std::optional<HttpAnswer> exchange(std::uint16_t port, http::request<http::string_body> request, double seconds) {
  request.set(http::field::host, "127.0.0.1");
  request.set(http::field::connection, "close");
  request.prepare_payload();
  Exchange connection(seconds);
  http::response_parser<http::string_body> parser;
  if (!connection.connect(port) || !connection.send(request) || !connection.receive(parser)) return std::nullopt;
  return HttpAnswer{.status = static_cast<int>(parser.get().result_int()), .body = parser.get().body()};
}

}  // namespace

std::optional<HttpAnswer> http_get(std::uint16_t port, const std::string& path, double seconds) {
  return exchange(port, {http::verb::get, path, kHttp11}, seconds);
}

std::optional<HttpAnswer> http_post_json(std::uint16_t port, const std::string& path, const std::string& json,
                                         double seconds) {
  http::request<http::string_body> request{http::verb::post, path, kHttp11};
  request.set(http::field::content_type, "application/json");
  request.body() = json;
  return exchange(port, std::move(request), seconds);
}

}  // namespace kvfit::runtime
