//! Where the agent works.

use context_fragments::{ApprovalPolicy, Kind, Permissions, SandboxMode};
use serde_json::json;
use world_state::*;

use crate::{history, resumed, said, stored, world_of};

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

/// What is said when one state follows the other, without the tags around it.
fn between(before: EnvironmentsState, now: EnvironmentsState) -> String {
    let mut world = world_of(before);
    let told = world.render_full().unwrap().snapshot;
    world.set(now.clone()).unwrap();
    let held = history(&[Kind::ENVIRONMENT_CONTEXT]);
    let diff = world.render_diff(Some(&told), &held).unwrap();
    // A resumed world says the same.
    let again = world_of(now).render_diff(Some(&resumed(&told)), &held).unwrap();
    assert_eq!(again.updates, diff.updates);
    assert_eq!(again.snapshot, diff.snapshot);
    body(&diff)
}

fn whole(now: EnvironmentsState) -> String {
    body(&world_of(now).render_full().unwrap())
}

fn body(diff: &WorldStateDiff) -> String {
    match said(diff).as_slice() {
        [] => "nothing".into(),
        [("environments", text)] => {
            let body = text.strip_prefix("<environment_context>\n").unwrap();
            body.strip_suffix("</environment_context>").unwrap().to_owned()
        }
        other => panic!("{other:?}"),
    }
}

fn one() -> EnvironmentsState {
    EnvironmentsState::new().with_environment("local", Environment::new("/r").with_shell("bash"))
}

fn full() -> EnvironmentsState {
    one()
        .with_shell_version("5.2")
        .with_current_date(day("2026-10-20"))
        .with_timezone("Europe/Berlin")
        .with_network(&NetworkAccess::enabled().allowing("a").denying("b"))
        .with_filesystem(
            &FileSystemAccess::new(&Permissions::new(SandboxMode::DangerFullAccess, ApprovalPolicy::Never))
                .with_workspace_root("/r"),
        )
        .with_subagents([SubAgent::at("/root/review"), SubAgent::known_as("docs", "Agent C")])
}

#[test]
fn one_environment_is_described_by_itself() {
    insta::assert_snapshot!(whole(full()), @r#"
    <cwd>/r</cwd>
    <shell>bash</shell>
    <shell_version>5.2</shell_version>
    <current_date>2026-10-20</current_date>
    <timezone>Europe/Berlin</timezone>
    <network enabled="true"><allowed>a</allowed><denied>b</denied></network>
    <filesystem><workspace_roots><root>/r</root></workspace_roots><permission_profile type="disabled"><file_system type="unrestricted" /></permission_profile></filesystem>
    <subagents>
      <agent name="/root/review" />
      - docs: Agent C
    </subagents>
    "#);
    insta::assert_snapshot!(serde_json::to_string_pretty(&world_of(full()).render_full().unwrap().snapshot).unwrap(), @r#"
    {
      "environments": {
        "current_date": "2026-10-20",
        "environments": {
          "local": {
            "cwd": "/r",
            "shell": "bash",
            "status": "available"
          }
        },
        "filesystem": "<filesystem><workspace_roots><root>/r</root></workspace_roots><permission_profile type=\"disabled\"><file_system type=\"unrestricted\" /></permission_profile></filesystem>",
        "network": "<network enabled=\"true\"><allowed>a</allowed><denied>b</denied></network>",
        "shell_version": "5.2",
        "subagents": "<agent name=\"/root/review\" />\n- docs: Agent C",
        "timezone": "Europe/Berlin"
      }
    }
    "#);
}

#[test]
fn what_was_stored_and_read_again_is_no_difference() {
    let several = || full().with_environment("remote", Environment::new("/srv").starting().because("It boots."));
    for state in [full, several as fn() -> EnvironmentsState] {
        assert_eq!(between(state(), state()), "nothing");
    }
    // Nor is the order in which a host finds them.
    let other_order = || EnvironmentsState::new().with_environment("b", Environment::new("/b"));
    let (one, two) = (
        other_order().with_environment("a", Environment::new("/a")),
        EnvironmentsState::new()
            .with_environment("a", Environment::new("/a"))
            .with_environment("b", Environment::new("/b")),
    );
    assert_eq!(between(one, two), "nothing");
}

#[test]
fn several_are_a_list_sorted_by_id() {
    let several = EnvironmentsState::new()
        .with_environment("remote", Environment::new(r"C:\src").starting())
        .with_environment("laptop", Environment::new("/r").with_shell("zsh"))
        .with_primary("laptop");
    insta::assert_snapshot!(whole(several), @r#"
    <environments>
      <environment id="laptop" primary="true">
        <cwd>/r</cwd>
        <shell>zsh</shell>
      </environment>
      <environment id="remote">
        <cwd>C:\src</cwd>
        <status>starting</status>
      </environment>
    </environments>
    "#);
    insta::assert_snapshot!(whole(EnvironmentsState::new().with_environment("local", Environment::new("/r").starting())), @r#"
    <environments>
      <environment id="local">
        <cwd>/r</cwd>
        <status>starting</status>
      </environment>
    </environments>
    "#);
}

#[test]
fn a_diff_of_a_list_has_what_is_changed_new_or_gone() {
    let before = EnvironmentsState::new()
        .with_environment("laptop", Environment::new("/r").with_shell("zsh"))
        .with_environment("same", Environment::new("/same"))
        .with_environment("old", Environment::new("/old"));
    let now = EnvironmentsState::new()
        .with_environment("laptop", Environment::new("/r2").with_shell("zsh"))
        .with_environment("same", Environment::new("/same"))
        .with_environment("remote", Environment::new("/srv").starting());
    insta::assert_snapshot!(between(before, now), @r#"
    <environments>
      <environment id="laptop">
        <cwd>/r2</cwd>
      </environment>
      <environment id="old" status="unavailable" />
      <environment id="remote">
        <cwd>/srv</cwd>
        <status>starting</status>
      </environment>
    </environments>
    "#);
}

#[test]
fn a_diff_of_one_has_its_changed_fields() {
    let moved = EnvironmentsState::new().with_environment("local", Environment::new("/s").with_shell("bash"));
    assert_eq!(between(one(), moved), "  <cwd>/s</cwd>\n");
    let shell = |state: EnvironmentsState, shell: &str| {
        state.with_environment("local", Environment::new("/r").with_shell(shell))
    };
    assert_eq!(between(one(), shell(one(), "zsh")), "  <shell>zsh</shell>\n");
    let bare = || EnvironmentsState::new().with_environment("local", Environment::new("/r"));
    assert_eq!(between(one(), bare()), "  <shell status=\"unavailable\" />\n");
    assert_eq!(between(one(), one()), "nothing");
}

#[test]
fn the_only_environment_may_go() {
    assert_eq!(
        between(one(), EnvironmentsState::new()),
        "  <environments>\n    <environment id=\"local\" status=\"unavailable\" />\n  </environments>\n"
    );
}

#[test]
fn growing_to_several_and_shrinking_to_one_says_all() {
    let two = || one().with_environment("remote", Environment::new("/srv"));
    insta::assert_snapshot!(between(one(), two()), @r#"
    <environments>
      <environment id="local">
        <cwd>/r</cwd>
        <shell>bash</shell>
      </environment>
      <environment id="remote">
        <cwd>/srv</cwd>
      </environment>
    </environments>
    "#);
    insta::assert_snapshot!(between(two(), one()), @r#"
    <environments>
      <environment id="local">
        <cwd>/r</cwd>
        <shell>bash</shell>
      </environment>
      <environment id="remote" status="unavailable" />
    </environments>
    "#);
}

#[test]
fn an_environment_that_gets_ready_says_so() {
    let starting = EnvironmentsState::new().with_environment("local", Environment::new("/r").starting());
    insta::assert_snapshot!(between(starting, one()), @r#"
    <environments>
      <environment id="local">
        <status>available</status>
        <shell>bash</shell>
      </environment>
    </environments>
    "#);
}

#[test]
fn the_primary_is_said_where_there_are_several() {
    let two = || one().with_environment("remote", Environment::new("/srv"));
    insta::assert_snapshot!(between(two().with_primary("local"), two().with_primary("remote")), @r#"
    <environments>
      <environment id="local" primary="false" />
      <environment id="remote" primary="true" />
    </environments>
    "#);
    let alone = world_of(one().with_primary("local")).render_full().unwrap();
    assert_eq!(alone.snapshot.section("environments").unwrap()["environments"]["local"].get("is_primary"), None);
}

#[test]
fn w02_crossing_midnight_is_one_line() {
    let now = full().with_current_date(day("2026-10-21"));
    assert_eq!(between(full(), now.clone()), "  <current_date>2026-10-21</current_date>\n");
    let mut world = world_of(full());
    let told = world.render_full().unwrap().snapshot;
    world.set(now).unwrap();
    let diff = world.render_diff(Some(&told), &history(&[Kind::ENVIRONMENT_CONTEXT])).unwrap();
    assert_eq!(
        diff.snapshot.merge_patch_from(&told).unwrap().to_string(),
        r#"{"environments":{"current_date":"2026-10-21"}}"#
    );
}

#[test]
fn w02_a_clock_that_moves_inside_a_day_sends_nothing() {
    let midnight = 1_792_454_400;
    let at = |seconds: i64| full().with_current_date(Date::at(midnight + seconds, 0).unwrap());
    let mut world = world_of(at(0));
    let told = world.render_full().unwrap().snapshot;
    for seconds in [1, 59, 3_600, 43_200, 86_399] {
        assert_eq!(world.set(at(seconds)).unwrap(), SetOutcome::Unchanged);
        let diff = world.render_diff(Some(&told), &history(&[Kind::ENVIRONMENT_CONTEXT])).unwrap();
        assert!(diff.updates.is_empty() && diff.snapshot.is_same(&told));
    }
    assert_eq!(between(at(0), at(86_400)), "  <current_date>2026-10-21</current_date>\n");
}

#[test]
fn every_day_of_the_clock_is_the_next_one_of_the_calendar() {
    let mut day = Date::at(-62_167_219_200, 0).unwrap();
    assert_eq!(day, Date::new(0, 1, 1).unwrap());
    for days in -719_527..=2_932_896_i64 {
        let next = Date::at(days * 86_400, 0).unwrap();
        assert!(next > day, "{day} {next}");
        day = next;
    }
    assert_eq!(day, Date::new(9999, 12, 31).unwrap());
    for seconds in [i64::MIN, -62_167_219_201, 253_402_300_800, i64::MAX] {
        assert!(Date::at(seconds, 0).is_err(), "{seconds}");
    }
}

#[test]
fn an_environment_that_cannot_be_used_says_so_with_its_cause() {
    let remote = || Environment::new("/srv").with_shell("sh");
    let with = |environment: Environment| one().with_environment("remote", environment);
    let failed = || with(remote().unavailable().because("The host <a> does not answer."));
    insta::assert_snapshot!(between(with(remote()), failed()), @r#"
    <environments>
      <environment id="remote">
        <status>unavailable</status>
        <cause>The host &lt;a&gt; does not answer.</cause>
      </environment>
    </environments>
    "#);
    insta::assert_snapshot!(between(failed(), with(remote().unavailable())), @r#"
    <environments>
      <environment id="remote">
        <cause status="unavailable" />
      </environment>
    </environments>
    "#);
    insta::assert_snapshot!(between(failed(), with(remote())), @r#"
    <environments>
      <environment id="remote">
        <status>available</status>
      </environment>
    </environments>
    "#);
    let sole = EnvironmentsState::new().with_environment("local", Environment::new("/r").unavailable());
    insta::assert_snapshot!(whole(sole), @r#"
    <environments>
      <environment id="local">
        <cwd>/r</cwd>
        <status>unavailable</status>
      </environment>
    </environments>
    "#);
}

#[test]
fn what_is_denied_is_not_said_to_be_allowed() {
    let network = NetworkAccess::enabled().allowing("a").allowing("b").denying("b").because("A rule & its reason.");
    assert_eq!(
        network.to_xml(),
        r#"<network enabled="true"><allowed>a</allowed><denied>b</denied><cause>A rule &amp; its reason.</cause></network>"#
    );
}

#[test]
fn the_codex_preset_adds_date_and_time_zone_to_every_diff() {
    let codex = |state: EnvironmentsState| state.with_preset(Preset::Codex);
    let now = full().with_subagents([SubAgent::at("/root/review")]);
    assert_eq!(
        between(codex(full()), codex(now.clone())),
        "  <current_date>2026-10-20</current_date>\n  <timezone>Europe/Berlin</timezone>\n  <subagents>\n    \
         <agent name=\"/root/review\" />\n  </subagents>\n"
    );
    assert_eq!(between(full(), now), "  <subagents>\n    <agent name=\"/root/review\" />\n  </subagents>\n");
    assert_eq!(between(codex(full()), codex(full())), "nothing");
}

#[test]
fn what_is_gone_is_said_but_in_the_codex_preset_only_the_shell_version() {
    let bare = || one().with_current_date(day("2026-10-20"));
    insta::assert_snapshot!(between(full(), bare()), @r#"
    <shell_version status="unavailable" />
    <timezone status="unavailable" />
    <network status="unavailable" />
    <filesystem status="unavailable" />
    <subagents status="unavailable" />
    "#);
    insta::assert_snapshot!(between(full().with_preset(Preset::Codex), bare().with_preset(Preset::Codex)), @r#"
    <shell_version status="unavailable" />
    <current_date>2026-10-20</current_date>
    "#);
    // Where that leaves nothing to say, the state moves in silence.
    let network = one().with_network(&NetworkAccess::disabled()).with_preset(Preset::Codex);
    let mut world = world_of(network);
    let told = world.render_full().unwrap().snapshot;
    world.set(one().with_preset(Preset::Codex)).unwrap();
    let diff = world.render_diff(Some(&told), &history(&[Kind::ENVIRONMENT_CONTEXT])).unwrap();
    assert_eq!(said(&diff), []);
    assert_eq!(diff.snapshot.merge_patch_from(&told).unwrap().to_string(), r#"{"environments":{"network":null}}"#);
}

#[test]
fn a_lost_description_is_said_again_but_not_in_the_codex_preset() {
    let told = world_of(one()).render_full().unwrap().snapshot;
    let lost = history(&[Kind::USER_TEXT]);
    assert_eq!(world_of(one()).render_diff(Some(&told), &lost).unwrap().updates.len(), 1);
    let codex = one().with_preset(Preset::Codex);
    assert_eq!(world_of(codex).render_diff(Some(&told), &lost).unwrap().updates, []);
}

#[test]
fn text_cannot_leave_its_element() {
    let odd = EnvironmentsState::new()
        .with_environment("a\"b", Environment::new("/r/</cwd><x>&'").with_shell("</environment_context>").starting())
        .with_timezone("<tz>")
        .with_network(&NetworkAccess::enabled().allowing("</network>"))
        .with_subagents([SubAgent::at("a\"/>\n<agent"), SubAgent::known_as("<n>", "two\r\nlines")]);
    insta::assert_snapshot!(whole(odd), @r#"
    <environments>
      <environment id="a&quot;b">
        <cwd>/r/&lt;/cwd&gt;&lt;x&gt;&amp;&apos;</cwd>
        <status>starting</status>
        <shell>&lt;/environment_context&gt;</shell>
      </environment>
    </environments>
    <timezone>&lt;tz&gt;</timezone>
    <network enabled="true"><allowed>&lt;/network&gt;</allowed></network>
    <subagents>
      <agent name="a&quot;/&gt;&#10;&lt;agent" />
      - &lt;n&gt;: two&#13;&#10;lines
    </subagents>
    "#);
}

#[test]
fn a_world_without_a_place_says_nothing() {
    let diff = world_of(EnvironmentsState::new()).render_full().unwrap();
    assert_eq!(said(&diff), []);
    assert_eq!(diff.snapshot, stored(json!({"environments": {"environments": {}}})));
}

/// The lines of a list of agents whose lines have so many bytes.
fn listed(lines: &[usize]) -> Vec<usize> {
    let name = |bytes: &usize| "x".repeat(bytes - SubAgent::at("").line().len());
    let state = EnvironmentsState::new().with_subagents(lines.iter().map(|bytes| SubAgent::at(&name(bytes))));
    match whole(state).as_str() {
        "nothing" => vec![],
        body => {
            let lines: Vec<&str> = body.lines().collect();
            assert_eq!((lines[0], lines[lines.len() - 1]), ("  <subagents>", "  </subagents>"));
            assert!(body.len() <= 1_024, "the list has {} bytes", body.len());
            lines[1..lines.len() - 1].iter().map(|line| line.len() - 4).collect()
        }
    }
}

#[test]
fn the_list_of_agents_is_counted_to_the_byte() {
    // The elements have 29 bytes, a line its own and five.
    assert_eq!(listed(&[990]), [990]);
    assert!(listed(&[991]).is_empty());
    assert_eq!(listed(&[500, 485]), [500, 485]);
    // One that does not fit is passed over, and a later one may fit.
    assert_eq!(listed(&[500, 486, 100]), [500, 100]);
    // Eight at most, and those that were passed over do not count.
    assert_eq!(listed(&[20; 12]), [20; 8]);
    assert_eq!(listed(&[2_000, 20, 20, 20, 20, 20, 20, 20, 20, 20]), [20; 8]);
    assert!(listed(&[]).is_empty());
}

#[test]
fn dates_are_days_of_the_calendar() {
    for good in ["2024-02-29", "2000-02-29", "0000-01-01", "9999-12-31"] {
        assert_eq!(day(good).to_string(), good);
    }
    for bad in [
        "",
        "2026",
        "2026-2-3",
        "2026-13-01",
        "2026-00-10",
        "2026-01-00",
        "2026-04-31",
        "2100-02-29",
        "2026-01-01T00:00",
        "2026/01/01",
        "+026-01-01",
        "２026-01-01",
        "2026-01-1x",
    ] {
        assert!(bad.parse::<Date>().is_err(), "{bad}");
    }
    assert!(Date::new(10_000, 1, 1).is_err());
    assert!(day("2026-01-02") < day("2026-01-10"));
}
