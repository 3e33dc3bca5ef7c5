#include "check_cases.h"
#include "checks.h"
#include "finding.h"
#include "spool.h"
#include "world.h"

#include "slurm_shim/proto/listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace shim::commands {

namespace {

namespace fs = std::filesystem;
using test::DoctorCase;
using test::DoctorWorld;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string advice_of(const nlohmann::json& check) {
  std::string text;
  for (const auto& line : check.at("advice"))
    text += line.get<std::string>() + "\n";
  return text;
}

class OneThingBroken : public testing::TestWithParam<DoctorCase> {};

TEST_P(OneThingBroken, is_told_with_advice) {
  const auto& wanted = GetParam();
  DoctorWorld world(wanted.ocs);
  wanted.change(world);
  const auto check = world.check(wanted.id);
  EXPECT_EQ(check.at("status"), wanted.status) << world.out << world.err;
  EXPECT_THAT(check.at("message").get<std::string>(), HasSubstr(wanted.message));
  EXPECT_THAT(advice_of(check), HasSubstr(wanted.advice));
  // Who is told of something wrong is told what to do.
  if (wanted.status == "warn" || wanted.status == "fail") {
    EXPECT_NE(advice_of(check), "");
  }
  const int code = world.doctor({"--check", wanted.id});
  EXPECT_EQ(code, wanted.status == "fail" ? 1 : 0) << world.out;
  EXPECT_EQ(world.doctor({"--strict", "--check", wanted.id}),
            wanted.status == "fail" || wanted.status == "warn" ? 1 : 0);
}

std::string case_name(const testing::TestParamInfo<DoctorCase>& info) {
  return info.param.id + "_" + info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Engine,
                         OneThingBroken,
                         testing::ValuesIn(test::engine_cases()),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Installation,
                         OneThingBroken,
                         testing::ValuesIn(test::installation_cases()),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Site, OneThingBroken, testing::ValuesIn(test::site_cases()), case_name);

class Doctor : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Engines, Doctor, testing::Bool(), [](const auto& engine) {
  return std::string(engine.param ? "ocs_9" : "sge_8");
});

TEST_P(Doctor, finds_nothing_wrong_where_nothing_is) {
  DoctorWorld world(GetParam());
  EXPECT_EQ(world.doctor({"--strict"}), 0) << world.out;
  EXPECT_THAT(world.out, HasSubstr("0 warnings, 0 failures"));
  EXPECT_THAT(world.out, Not(HasSubstr("->")));
  EXPECT_THAT(world.out, HasSubstr("[ ok ] C05 pe.control_slaves"));
  EXPECT_THAT(world.out, HasSubstr("config      " + world.root + "/config.yaml"));
  EXPECT_EQ(world.doctor({"--quiet"}), 0);
  EXPECT_EQ(std::count(world.out.begin(), world.out.end(), '\n'), 1) << world.out;
}

TEST(DoctorReport, is_json_of_one_schema) {
  DoctorWorld world;
  EXPECT_EQ(world.doctor({"--json"}), 0);
  const auto json = nlohmann::json::parse(world.out);
  EXPECT_EQ(json.at("schema"), 1);
  EXPECT_EQ(json.at("host"), world.host);
  EXPECT_EQ(json.at("checks").size(), 32U);
  for (const auto& check : json.at("checks")) {
    for (const auto* key : {"id", "name", "status", "message", "advice", "evidence"})
      EXPECT_TRUE(check.contains(key)) << check;
    for (const auto& evidence : check.at("evidence")) {
      EXPECT_TRUE(evidence.at("rc").is_number());
      EXPECT_TRUE(evidence.contains("cmd") && evidence.contains("out"));
    }
  }
  int sum = 0;
  for (const auto& [status, number] : json.at("summary").items())
    sum += number.get<int>();
  EXPECT_EQ(sum, 32);
  EXPECT_EQ(world.check("C05").at("evidence").at(0).at("cmd"), "qconf -sp slurm-shim");
}

TEST(DoctorReport, every_check_has_a_case_in_which_it_is_not_fine) {
  std::set<std::string> covered;
  for (const auto& cases : {test::engine_cases(), test::installation_cases(), test::site_cases()})
    for (const auto& one : cases)
      if (one.status == "warn" || one.status == "fail") covered.insert(one.id);
  // Lines of information only, and what other tests break: hosts and the probe.
  const std::set<std::string> others{"C12", "C19", "C22", "C26", "C29", "C30", "C32"};
  for (const auto& check : doctor::all_checks())
    if (check.run != nullptr) {
      EXPECT_TRUE(covered.contains(std::string(check.id)) || others.contains(std::string(check.id)))
          << check.id;
    }
}

TEST(DoctorReport, skips_what_a_dead_qmaster_would_have_to_answer) {
  DoctorWorld world;
  world.hanging.insert("qconf");
  world.hanging.insert("qstat -f");
  EXPECT_EQ(world.doctor({}), 1);
  EXPECT_THAT(world.out, HasSubstr("[FAIL] C03"));
  EXPECT_THAT(world.out, HasSubstr("[skip] C05"));
  EXPECT_THAT(world.out, HasSubstr("[ ok ] C13"));
  EXPECT_THAT(world.out, HasSubstr("1 failure,"));
  // One wait for it, not one for every check.
  EXPECT_LE(world.clock.now, 1796000000000 + 12000);
}

TEST(DoctorReport, one_hanging_call_costs_one_check) {
  DoctorWorld world;
  world.hanging.insert("qstat -f");
  EXPECT_EQ(world.doctor({}), 0);
  EXPECT_THAT(world.out, HasSubstr("[warn] C25 queue.state        could not be checked"));
  EXPECT_THAT(world.out, HasSubstr("1 warning, 0 failures"));
}

TEST(DoctorReport, an_occupied_range_fails) {
  const auto socket = proto::bind_listener({true, 0, 0, 0});
  ASSERT_TRUE(socket);
  DoctorWorld world;
  world.config("control_port: " + std::to_string(socket->port) + "\n");
  const auto check = world.check("C18");
  EXPECT_EQ(check.at("status"), "fail");
  EXPECT_THAT(advice_of(check), HasSubstr("ss -tlnp"));
}

TEST(DoctorReport, secrets_are_masked) {
  const std::string token(64, 'a');
  EXPECT_THAT(doctor::masked("SLURM_SHIM_TOKEN=" + token + " x"),
              testing::StrEq("SLURM_SHIM_TOKEN=<redacted> x"));
  EXPECT_EQ(doctor::masked("at " + token + "."), "at <redacted>.");
  EXPECT_EQ(doctor::masked("db_password=hunter2"), "db_password=<redacted>");
  EXPECT_EQ(doctor::masked("PATH=/bin job 4711"), "PATH=/bin job 4711");
  EXPECT_LT(doctor::masked(std::string(100000, 'x')).size(), 3000U);
  DoctorWorld world;
  world.set("qconf -sconf", "jsv_url", "/x?API_KEY=geheim");
  world.doctor({"--json"});
  EXPECT_THAT(world.out, AllOf(Not(HasSubstr("geheim")), HasSubstr("<redacted>")));
}

TEST(DoctorWords, are_checked) {
  DoctorWorld world;
  for (const auto& [words, text] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--check", "C99"}, "\"C99\" is no check"},
           {{"--check", "P01"}, "P01 needs --probe"},
           {{"--nodes", "2"}, "--nodes needs --probe"},
           {{"--probe", "--nodes", "0"}, "\"0\" is not within"},
           {{"--probe", "--timeout", "x"}, "x"},
           {{"--hosts", "a,,b"}, "bad entry in \"a,,b\""},
           {{"--config", "/no/such"}, "/no/such"},
           {{"--config", "/dev/null", "--probe"}, "no --probe"},
           {{"more"}, "more"}}) {
    EXPECT_EQ(world.doctor(words), 2) << text;
    EXPECT_THAT(world.err, AllOf(StartsWith("slurm-shim: error: doctor: "), HasSubstr(text)));
    EXPECT_EQ(world.out, "");
  }
  EXPECT_EQ(world.doctor({"--list"}), 0);
  EXPECT_THAT(world.out,
              AllOf(HasSubstr("C12 binary.hosts (--hosts)"), HasSubstr("P06 probe.gpu")));
  EXPECT_EQ(world.doctor({"--help"}), 0);
  EXPECT_THAT(world.out, HasSubstr("--probe"));
}

TEST(DoctorWords, a_file_is_checked_without_asking_anybody) {
  DoctorWorld world;
  world.write("other.yaml", "launch_timeout: soon\n");
  EXPECT_EQ(world.doctor({"--config", world.root + "/other.yaml"}), 1);
  EXPECT_THAT(world.out, HasSubstr("other.yaml:1:17: launch_timeout"));
  EXPECT_THAT(world.calls, Each(StartsWith("getent")));
}

// ---- C17 on real folders

class Spool : public testing::Test {
protected:
  Spool() { ::chmod(m_dir.path().c_str(), 0755); }
  std::string make(const std::string& name, unsigned mode = 0755) {
    const auto path = m_dir / name;
    fs::create_directories(path);
    ::chmod(path.c_str(), mode);
    return path;
  }
  test::TempDir m_dir;
};

TEST_F(Spool, a_closed_folder_in_the_middle_closes_it) {
  make("a", 0750);
  const auto leaf = make("a/b/c");
  const auto found = doctor::walk_spool(leaf);
  EXPECT_EQ(found.state, doctor::SpoolFinding::State::closed);
  EXPECT_THAT(found.text, HasSubstr("/a has mode 0750"));
}

TEST_F(Spool, open_all_the_way) {
  const auto found = doctor::walk_spool(make("a/b"));
  EXPECT_EQ(found.state, doctor::SpoolFinding::State::open);
}

TEST_F(Spool, links_are_followed_step_by_step) {
  make("closed", 0700);
  make("closed/x");
  fs::create_symlink("closed/x", m_dir / "relative");
  fs::create_symlink(m_dir / "closed", m_dir / "absolute");
  for (const auto* name : {"relative", "absolute/x", "open/../relative"}) {
    make("open");
    const auto found = doctor::walk_spool(m_dir / name);
    EXPECT_EQ(found.state, doctor::SpoolFinding::State::closed) << name;
    EXPECT_THAT(found.text, HasSubstr("/closed has mode 0700")) << name;
  }
  fs::create_symlink("loop", m_dir / "loop");
  EXPECT_EQ(doctor::walk_spool(m_dir / "loop").state, doctor::SpoolFinding::State::unknown);
}

TEST_F(Spool, what_does_not_exist_yet_is_as_open_as_what_does) {
  const auto found = doctor::walk_spool(m_dir / "no/such");
  EXPECT_EQ(found.state, doctor::SpoolFinding::State::open);
  EXPECT_THAT(found.text, HasSubstr("does not exist yet"));
}

TEST_F(Spool, a_file_is_no_folder) {
  ASSERT_TRUE(posix::write_file_atomic(m_dir / "file", "x", 0644));
  EXPECT_EQ(doctor::walk_spool(m_dir / "file").state, doctor::SpoolFinding::State::unknown);
  EXPECT_EQ(doctor::walk_spool("no/slash").state, doctor::SpoolFinding::State::unknown);
}

} // namespace

} // namespace shim::commands
