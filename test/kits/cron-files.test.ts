import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { fileOf } from "../support/kit-pages.ts";
import { faultsOf } from "../support/kit-schemas.ts";
import { folder } from "../support/service.ts";
import { crontabOf, unitOf } from "../support/units.ts";

const service = await fileOf("cron.md", "ini", "/etc/systemd/system/ragtag-tags.service");
const timer = await fileOf("cron.md", "ini", "/etc/systemd/system/ragtag-tags.timer");
const rules = await fileOf("cron.md", "yaml", "/etc/prometheus/rules/ragtag.yml");
const crontab = await fileOf("cron.md", "crontab", "/etc/cron.d/ragtag");

const isThere = (program: string): boolean => spawnSync(program, ["--version"]).error === undefined;

/** Series and alerts of a unit test of Prometheus, at one time. */
function alertTest(name: string, at: string, series: Readonly<Record<string, string>>, labels?: object): object {
	return {
		interval: "1h",
		input_series: Object.entries(series).map(([text, values]) => ({ series: text, values })),
		alert_rule_test: [
			{ eval_time: at, alertname: name, exp_alerts: labels === undefined ? [] : [{ exp_labels: labels }] },
		],
	};
}

describe("the files of docs/cron.md", () => {
	it("give cron and systemd the same command, so that a reader may take either", () => {
		const [start = ""] = unitOf(service).get("ExecStart") ?? [];
		expect(start).toBe(`/usr/local/bin/${crontabOf(crontab).command}`);
	});

	it.skipIf(!isThere("systemd-analyze"))("are units that systemd loads without a warning", async () => {
		const place = await folder();
		const verify = (name: string): string => {
			const { stdout, stderr, status } = spawnSync("systemd-analyze", ["verify", name], {
				cwd: place,
				encoding: "utf8",
			});
			return `${stdout}${stderr}${String(status)}`;
		};
		// It looks for the program, which is not installed here.
		await writeFile(join(place, "ragtag-tags.service"), service.replace("/usr/local/bin/ragtag", "/bin/true"));
		await writeFile(join(place, "ragtag-tags.timer"), timer);
		expect(verify("./ragtag-tags.service")).toBe("0");
		expect(verify("./ragtag-tags.timer")).toBe("0");
		await writeFile(join(place, "ragtag-tags.timer"), timer.replace("Persistent", "Persistant"));
		expect(verify("./ragtag-tags.timer")).toContain("Unknown key");
	});

	it("are rules with the members of an alert, about gauges that the program writes", async () => {
		expect(faultsOf("alerts", parse(rules))).toEqual([]);
		expect(faultsOf("alerts", parse(rules.replaceAll("expr:", "exp:")))).not.toEqual([]);
		const names = new Set(rules.match(/ragtag_\w+_\w+/g));
		const written = await import("../../src/workflows/outputs/metrics.ts").then(({ metricsText }) => metricsText);
		const end = { command: "docs tag", args: ["tags.csv"], exit: 0, started: new Date(0), ended: new Date(1000) };
		const text = written(
			{ ...end, text: "", problems: [], failed: [] } as unknown as Parameters<typeof written>[0],
			undefined,
		);
		expect([...names].filter((name) => !text.includes(`# TYPE ${name} gauge`))).toEqual([]);
	});

	it.skipIf(!isThere("promtool"))("alert for a job that fails, is late, never succeeded or is gone", async () => {
		const place = await folder();
		const job = '{command="docs tag",manifest="tags.csv"}';
		const of = (name: string): string => `ragtag_last_${name}${job}`;
		const labels = { severity: "critical", command: "docs tag", manifest: "tags.csv" };
		const tests = [
			alertTest("RagtagNoSuccess", "47h", { [of("success_timestamp_seconds")]: "0x60" }),
			alertTest("RagtagNoSuccess", "49h", { [of("success_timestamp_seconds")]: "0x60" }, labels),
			alertTest("RagtagNeverSucceeded", "49h", { [of("run_timestamp_seconds")]: "0x60" }, labels),
			alertTest("RagtagFailed", "1h", { [of("run_exit_code")]: "4x5" }, { ...labels, severity: "warning" }),
			alertTest("RagtagFailed", "1h", { [of("run_exit_code")]: "9x5" }),
			alertTest("RagtagGone", "2h", { up: "1x5" }, { severity: "warning" }),
			alertTest("RagtagGone", "2h", { [of("run_timestamp_seconds")]: "1x5" }),
		];
		await writeFile(join(place, "ragtag.yml"), rules);
		// The texts are compared, too, where they are given: labels are enough here.
		const bare = parse(rules) as { groups: { rules: { annotations?: unknown }[] }[] };
		for (const rule of bare.groups.flatMap((group) => group.rules)) delete rule.annotations;
		await writeFile(join(place, "bare.yml"), stringify(bare));
		await writeFile(join(place, "test.yml"), stringify({ rule_files: ["bare.yml"], evaluation_interval: "1h", tests }));
		const promtool = (...words: string[]) => spawnSync("promtool", words, { cwd: place, encoding: "utf8" });
		expect(promtool("check", "rules", "ragtag.yml")).toMatchObject({
			status: 0,
			stdout: expect.stringContaining("4 rules"),
		});
		const { status, stdout, stderr } = promtool("test", "rules", "test.yml");
		expect([status, stdout, stderr]).toEqual([0, expect.stringContaining("SUCCESS"), expect.anything()]);
	});
});
