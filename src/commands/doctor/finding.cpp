#include "finding.h"

#include "slurm_shim/base/strings.h"

#include <algorithm>
#include <array>

namespace shim::commands::doctor {

namespace {

constexpr std::size_t k_longest_evidence = 2000;
constexpr std::size_t k_token_digits = 32; // the step token has 64; half of one is one too
constexpr std::string_view k_redacted = "<redacted>";

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool looks_secret(std::string_view name) {
  constexpr std::array<std::string_view, 6> k_parts{
      "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "API_KEY", "PRIVATE_KEY"};
  const auto upper = to_upper(name);
  return std::any_of(k_parts.begin(), k_parts.end(), [&](std::string_view part) {
    return upper.find(part) != std::string::npos;
  });
}

// NAME=VALUE of a name that looks secret; the value ends at a blank.
std::string mask_assignments(std::string_view text) {
  std::string out;
  std::size_t i = 0;
  while (i < text.size()) {
    if (!is_word(text[i])) {
      out += text[i++];
      continue;
    }
    const auto begin = i;
    while (i < text.size() && is_word(text[i]))
      ++i;
    const auto name = text.substr(begin, i - begin);
    out += name;
    if (i >= text.size() || text[i] != '=' || !looks_secret(name)) continue;
    out += '=';
    out += k_redacted;
    i = std::min(text.find_first_of(" \t\n", i), text.size());
  }
  return out;
}

std::string mask_tokens(std::string_view text) {
  std::string out;
  std::size_t i = 0;
  while (i < text.size()) {
    auto end = i;
    while (end < text.size() && is_hex(text[end]))
      ++end;
    if (end - i >= k_token_digits)
      out += k_redacted;
    else
      out += text.substr(i, end - i);
    if (end < text.size()) out += text[end++];
    i = end;
  }
  return out;
}

} // namespace

std::string_view status_name(Status status) {
  switch (status) {
  case Status::pass: return "pass";
  case Status::info: return "info";
  case Status::skip: return "skip";
  case Status::warn: return "warn";
  case Status::fail: return "fail";
  }
  return "";
}

void Verdict::fail(std::string message, std::string advice) {
  m_findings.push_back({Status::fail, std::move(message), {std::move(advice)}});
}
void Verdict::warn(std::string message, std::string advice) {
  m_findings.push_back({Status::warn, std::move(message), {std::move(advice)}});
}
void Verdict::info(std::string message, std::string advice) {
  m_findings.push_back({Status::info, std::move(message), {std::move(advice)}});
}

Finding Verdict::finish(std::string fine) const {
  Finding out{Status::pass, std::move(fine), {}};
  for (const auto& finding : m_findings)
    out.status = std::max(out.status, finding.status);
  if (m_findings.empty()) return out;
  // Lesser findings beside a failure are told as well, after it.
  auto sorted = m_findings;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.status > b.status;
  });
  std::vector<std::string> messages;
  for (const auto& finding : sorted) {
    messages.push_back(finding.message);
    const auto& text = finding.advice.front();
    if (!text.empty() && std::find(out.advice.begin(), out.advice.end(), text) == out.advice.end())
      out.advice.push_back(text);
  }
  if (out.status == Status::info) messages.insert(messages.begin(), out.message);
  std::erase(messages, "");
  out.message = join(messages, "; ");
  return out;
}

std::string masked(std::string_view text) {
  auto out = mask_tokens(mask_assignments(sanitize_utf8(text)));
  while (out.ends_with('\n') || out.ends_with(' '))
    out.pop_back();
  if (out.size() <= k_longest_evidence) return out;
  out.resize(k_longest_evidence);
  return sanitize_utf8(out) + "\n... (cut)";
}

} // namespace shim::commands::doctor
