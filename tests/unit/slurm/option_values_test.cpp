// The value grammars against what real Slurm answered (vectors/03): refusals by text and exit code,
// acceptances by what the job then looked like.
#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/array_spec.h"
#include "slurm_shim/slurm/date_time.h"
#include "slurm_shim/slurm/dependency.h"
#include "slurm_shim/slurm/distribution.h"
#include "slurm_shim/slurm/memory.h"
#include "slurm_shim/slurm/numbers.h"
#include "slurm_shim/slurm/resources.h"
#include "slurm_shim/slurm/signals.h"
#include "slurm_shim/slurm/time_limit.h"
#include "slurm_shim/slurm/words.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <optional>

#include "support/case_file.h"

namespace shim::slurm {

namespace {

using nlohmann::json;

constexpr std::string_view k_job = "70025"; // stands for {JOBID2}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// The words of a shell line that has only plain quotes.
std::vector<std::string> shell_words(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  char quote = '\0';
  bool open = false;
  for (const char c : line) {
    if (quote != '\0') {
      if (c == quote)
        quote = '\0';
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      open = true;
    } else if (c == ' ') {
      if (open) words.push_back(word);
      word.clear();
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) words.push_back(word);
  return words;
}

struct Seen {
  std::string option; // "time", "N", ...
  std::string value;
};

// The one option of a case, or nothing when there are several.
std::optional<Seen> single_option(const json& c) {
  if (!c.contains("opts") || c.contains("env")) return std::nullopt;
  const auto words = shell_words(replace_all(c.at("opts").get<std::string>(), "{JOBID2}", k_job));
  if (words.empty() || words.size() > 2) return std::nullopt;
  const auto& first = words[0];
  if (first.starts_with("--")) {
    const auto equals = first.find('=');
    if (equals == std::string::npos)
      return words.size() == 2 && !words[1].starts_with("-")
                 ? std::optional(Seen{first.substr(2), words[1]})
                 : std::nullopt;
    if (words.size() != 1) return std::nullopt;
    return Seen{first.substr(2, equals - 2), first.substr(equals + 1)};
  }
  if (first.size() > 2 && words.size() == 1) return Seen{first.substr(1, 1), first.substr(2)};
  if (first.size() == 2 && words.size() == 2) return Seen{first.substr(1, 1), words[1]};
  return std::nullopt;
}

struct Answer {
  std::optional<Error> error;
  std::map<std::string, std::string> shown; // fields of `scontrol show job`
};

template <class T> Answer answer_of(const Result<T>& result) {
  if (result) return {};
  return {result.error(), {}};
}

template <class T, class Show> Answer answer_of(const Result<T>& result, Show&& show) {
  if (!result) return {result.error(), {}};
  return {std::nullopt, show(*result)};
}

using Handler = std::function<Answer(const std::string&)>;
using Shown = std::map<std::string, std::string>;

Handler memory(const char* option, const char* field) {
  return [=](const std::string& v) {
    return answer_of(parse_memory(v, option), [&](std::uint64_t mib) {
      // --mem-per-cpu=0 is shown as all of the node's memory.
      return mib == 0 ? Shown{{"MinMemoryNode", "0"}} : Shown{{field, format_memory(mib)}};
    });
  };
}

Handler number(const char* what, const char* field) {
  return [=](const std::string& v) {
    return answer_of(parse_positive(v, what), [&](int n) {
      return field[0] == '\0' ? Shown{} : Shown{{field, std::to_string(n)}};
    });
  };
}

Handler gpus(const char* field) {
  return [=](const std::string& v) {
    return answer_of(parse_gpus(v), [&](const auto& list) {
      // Slurm echoes a count that was not written as it was written.
      return is_digits(v) ? Shown{{field, format_tres(list)}} : Shown{};
    });
  };
}

std::map<std::string, Handler> handlers() {
  std::map<std::string, Handler> h;
  h["time"] = h["t"] = [](const std::string& v) {
    return answer_of(parse_time_limit(v), [](std::uint32_t minutes) {
      return Shown{{"TimeLimit", format_time_limit(minutes)}};
    });
  };
  h["time-min"] = [](const std::string& v) { return answer_of(parse_time_limit(v, "time-min")); };
  h["mem"] = memory("mem", "MinMemoryNode");
  h["mem-per-cpu"] = memory("mem-per-cpu", "MinMemoryCPU");
  h["tmp"] = memory("tmp", "MinTmpDiskNode");
  h["mincpus"] = number("--mincpus", "MinCPUsNode");
  h["array"] = h["a"] = [](const std::string& v) {
    return answer_of(parse_array_spec(v), [](const std::optional<ArraySpec>& spec) {
      return spec ? Shown{{"ArrayTaskId", format_array_indices(spec->indices, spec->throttle)}}
                  : Shown{};
    });
  };
  h["dependency"] = h["d"] = [](const std::string& v) {
    return answer_of(parse_dependency(v), [](const DependencyList& list) {
      return Shown{{"Dependency", format_dependency(list)}};
    });
  };
  h["kill-on-invalid-dep"] = [](const std::string& v) {
    return answer_of(parse_yes_no(v, "kill-on-invalid-dep"));
  };
  h["nodes"] = h["N"] = [](const std::string& v) {
    return answer_of(parse_node_count(v), [](const NodeCount& n) {
      return Shown{
          {"NumNodes", n.min == 0 ? "0" : std::to_string(n.min) + "-" + std::to_string(n.max)}};
    });
  };
  h["n"] = number("--ntasks", "NumTasks");
  h["c"] = number("--cpus-per-task", "CPUs/Task");
  h["ntasks-per-node"] = number("--ntasks-per-node", "");
  h["cores-per-socket"] = number("--cores-per-socket", "");
  h["threads-per-core"] = number("--threads-per-core", "");
  h["gres"] = [](const std::string& v) {
    // "tpu" is refused because the cluster has none, not for its form.
    return v == "tpu:1"
               ? Answer{Error{
                            ErrorKind::refused, "Invalid generic resource (gres) specification", 1},
                        {}}
               : answer_of(parse_gres(v));
  };
  h["gpus"] = h["G"] = gpus("TresPerJob");
  h["gpus-per-node"] = gpus("TresPerNode");
  h["gpu-bind"] = [](const std::string& v) { return answer_of(parse_gpu_bind(v)); };
  h["B"] = h["extra"] = [](const std::string& v) { return answer_of(parse_extra_node_info(v)); };
  h["hint"] = [](const std::string& v) {
    return v == "help" ? Answer{Error{ErrorKind::usage, "", 1}, {}} : answer_of(check_hint(v));
  };
  h["switches"] = [](const std::string& v) { return answer_of(parse_switches(v)); };
  h["exclusive"] = [](const std::string& v) { return answer_of(parse_exclusive(v)); };
  h["signal"] = [](const std::string& v) { return answer_of(parse_signal_spec(v)); };
  h["nice"] = [](const std::string& v) {
    return answer_of(parse_nice(v), [](int n) { return Shown{{"Nice", std::to_string(n)}}; });
  };
  h["mail-type"] = [](const std::string& v) {
    return answer_of(parse_mail_types(v), [](const MailTypes& types) {
      return types.any() ? Shown{{"MailType", format_mail_types(types)}} : Shown{};
    });
  };
  h["open-mode"] = [](const std::string& v) { return answer_of(parse_open_mode(v)); };
  h["profile"] = [](const std::string& v) { return answer_of(check_profile(v)); };
  h["propagate"] = [](const std::string& v) { return answer_of(check_propagate(v)); };
  h["m"] = [](const std::string& v) {
    // What arbitrary needs besides is a question of other options.
    return v == "arbitrary" ? Answer{Error{ErrorKind::usage,
                                           "With Arbitrary distribution you need to specify a "
                                           "nodelist or hostfile with the -w option",
                                           1},
                                     {}}
                            : answer_of(parse_distribution(v));
  };
  h["L"] = [](const std::string& v) {
    auto answer = answer_of(parse_licenses(v));
    // The form is fine; the cluster has no such license.
    if (!answer.error)
      answer.error = Error{
          ErrorKind::refused, "Batch job submission failed: Invalid license specification", 1};
    return answer;
  };
  return h;
}

std::string printed(const Error& error) {
  std::string text;
  if (error.message.empty()) return text;
  for (const auto line : split(error.message, '\n'))
    text += "sbatch: error: " + std::string(line) + "\n";
  return text;
}

TEST(OptionValues, answer_as_slurm_answered) {
  const auto topic = test::load_json("vectors/03_option_values.json");
  const auto table = handlers();
  int compared = 0;
  for (const auto& c : topic.at("cases")) {
    const auto seen = single_option(c);
    if (!seen) continue;
    const auto handler = table.find(seen->option);
    if (handler == table.end()) continue;
    const auto id = c.at("id").get<std::string>();
    // Two cases of others' rules: gpus per task without tasks, and a script named 5.
    if (id == "geo.115" || id == "misc.008") continue;
    const auto answer = handler->second(seen->value);
    ++compared;
    EXPECT_EQ(answer.error ? answer.error->exit_code : 0, c.at("rc").get<int>()) << c.at("cmd");
    if (answer.error) {
      EXPECT_EQ(printed(*answer.error), c.at("stderr").get<std::string>());
    }
    if (!c.contains("parsed")) continue;
    for (const auto& [field, value] : answer.shown) {
      const auto& want = c.at("parsed").value(field, json());
      const auto text = want.is_string() ? want.get<std::string>() : "";
      EXPECT_EQ(value, replace_all(text, "{JOBID2}", k_job)) << field << " of " << c.at("cmd");
    }
  }
  EXPECT_GT(compared, 250);
}

TEST(DateTime, reads_begin_times_as_slurm_does) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  const auto topic = test::load_json("vectors/03_option_values.json");
  int compared = 0;
  for (const auto& c : topic.at("cases")) {
    const auto id = c.at("id").get<std::string>();
    if (!id.starts_with("begin.")) continue;
    const auto value = single_option(c).value().value;
    const auto parsed = c.contains("parsed") ? c.at("parsed") : json::object();
    std::tm submit{};
    const auto text = parsed.value("SubmitTime", std::string("2026-11-30T01:43:00"));
    ASSERT_NE(::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &submit), nullptr);
    const auto now = ::timegm(&submit);
    const auto when = parse_date_time(value, now);
    ++compared;
    if (c.at("rc").get<int>() != 0) {
      ASSERT_FALSE(when) << value;
      EXPECT_EQ(when.error().exit_code, c.at("rc").get<int>());
      EXPECT_EQ(when.error().message + "\nsbatch: error: Invalid --begin specification\n",
                c.at("stderr").get<std::string>());
      continue;
    }
    ASSERT_TRUE(when) << value;
    const auto eligible = parsed.at("EligibleTime").get<std::string>();
    if (eligible == "Unknown")
      EXPECT_LE(*when, now) << value;
    else if (value.starts_with("now")) // the clock went on between parser and controller
      EXPECT_NEAR(
          static_cast<double>(*when - now), parsed.at("eligible_minus_submit_s").get<double>(), 2)
          << value;
    else
      EXPECT_EQ(format_date_time(*when), eligible) << value;
  }
  EXPECT_GT(compared, 30);
}

} // namespace

} // namespace shim::slurm
