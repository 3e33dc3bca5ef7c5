#include "ports_networks.h"

#include "slurm_shim/base/strings.h"

#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

#include <algorithm>
#include <optional>

namespace shim::commands::admin {

namespace {

namespace ip = boost::asio::ip;

// More than these are easier to read, and to mend, as a list of hosts.
constexpr std::size_t k_most_networks = 8;

struct V4 {
  using Network = ip::network_v4;
  static constexpr int k_bits = 32;
  static Network make(std::string_view text, boost::system::error_code& error) {
    return ip::make_network_v4(std::string(text), error);
  }
};
struct V6 {
  using Network = ip::network_v6;
  static constexpr int k_bits = 128;
  static Network make(std::string_view text, boost::system::error_code& error) {
    return ip::make_network_v6(std::string(text), error);
  }
};

template <class Family> std::optional<typename Family::Network> parse(std::string_view text) {
  auto whole = std::string(text);
  if (whole.find('/') == std::string::npos) whole += "/" + std::to_string(Family::k_bits);
  boost::system::error_code error;
  const auto network = Family::make(whole, error);
  if (error) return std::nullopt;
  return network.canonical();
}

template <class Network> bool before(const Network& a, const Network& b) {
  return std::pair(a.address(), a.prefix_length()) < std::pair(b.address(), b.prefix_length());
}

template <class Network> Network parent_of(const Network& network) {
  return Network(network.address(), static_cast<unsigned short>(network.prefix_length() - 1))
      .canonical();
}

// Sorted input: a network comes right before what lies in it and right before its sibling.
template <class Network> std::vector<Network> merge(const std::vector<Network>& sorted) {
  std::vector<Network> out;
  for (const auto& network : sorted) {
    if (!out.empty() && (network == out.back() || network.is_subnet_of(out.back()))) continue;
    out.push_back(network);
    while (out.size() > 1) {
      const auto& last = out.back();
      const auto& previous = out[out.size() - 2];
      if (last.prefix_length() != previous.prefix_length() || last.prefix_length() == 0 ||
          parent_of(last) != parent_of(previous))
        break;
      const auto joined = parent_of(last);
      out.pop_back();
      out.back() = joined;
    }
  }
  return out;
}

template <class Family>
std::vector<std::string> texts_of(std::vector<typename Family::Network> networks) {
  std::sort(networks.begin(), networks.end(), before<typename Family::Network>);
  networks.erase(std::unique(networks.begin(), networks.end()), networks.end());
  const auto merged = merge(networks);
  std::vector<std::string> out;
  for (const auto& network : merged.size() <= k_most_networks ? merged : networks)
    out.push_back(network.is_host() ? network.address().to_string() : network.to_string());
  return out;
}

} // namespace

bool is_address_or_network(std::string_view text) {
  return parse<V4>(text) || parse<V6>(text);
}

Result<Sources> aggregate(const std::vector<std::string>& entries) {
  std::vector<ip::network_v4> ipv4;
  std::vector<ip::network_v6> ipv6;
  for (const auto& entry : entries) {
    if (const auto network = parse<V4>(entry))
      ipv4.push_back(*network);
    else if (const auto wide = parse<V6>(entry))
      ipv6.push_back(*wide);
    else
      return fail(ErrorKind::usage, "\"" + entry + "\" is no address and no network");
  }
  return Sources{texts_of<V4>(std::move(ipv4)), texts_of<V6>(std::move(ipv6))};
}

} // namespace shim::commands::admin
