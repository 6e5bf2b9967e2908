import { describe, expect, it } from "vitest";
import { ragtag } from "../../support/ragtag.ts";
import { at, parseLines } from "../../support/values.ts";

/** What people asked in public issues, shortened, and where the answer stands. Chosen before the search was tuned. */
const QUESTIONS: readonly (readonly [question: string, answers: readonly string[]])[] = [
	// infiniflow/ragflow issue 6573
	["batch modification of metadata", ["docs tag", "manifests"]],
	// Samge0/ragflow-upload issue 26
	["upload files with metadata from a json of the same name", ["manifests", "manifest from", "recipes"]],
	// infiniflow/ragflow issue 5741
	["retrieve the existing metadata of each document", ["docs list", "manifest init", "manifests"]],
	// infiniflow/ragflow issue 6223
	["parsing of documents is stuck", ["docs parse", "servers"]],
	// infiniflow/ragflow issue 9798
	["delete expired documents in bulk", ["docs rm", "manifests"]],
	// rclone/rclone issue 1354
	["keep running into 429 too many requests", ["troubleshooting", "runs", "performance"]],
	// rclone/rclone issue 6995
	["how to wait between requests so that the server is not overloaded", ["runs", "performance", "servers"]],
	// rclone/rclone issue 7993
	["prevent two cron jobs from running at the same time", ["cron"]],
	// rclone/rclone issue 1574
	["files deleted by accident, how to restore", ["review-and-undo", "sync", "runs undo"]],
	// blackvuesync issue 72
	["prometheus metrics file, alert when a job failed", ["cron", "outputs"]],
	// datastax/dsbulk issue 431
	["resume a failed operation from a checkpoint", ["runs", "runs resume"]],
	// datastax/dsbulk pull request 5
	["where are the bad rows that were rejected", ["runs", "manifests"]],
	// peak/s5cmd issue 253
	["distinct exit codes for different errors", ["exit-codes", "json"]],
	// cli/cli issue 1735
	["certificate signed by unknown authority, internal CA", ["troubleshooting", "settings", "environment", "options"]],
	// cli/cli issue 5244
	["NO_PROXY is ignored behind a corporate proxy", ["environment", "troubleshooting", "settings"]],
	// gabrie30/ghorg issue 652
	["get the token from a command instead of clear text", ["settings", "options", "environment"]],
	// microsoft/azure-pipelines-terraform issue 20
	["save the plan as a pull request comment", ["review-and-undo", "ci"]],
	// UgnisSoftware/react-spreadsheet-import issue 145
	["umlauts not displayed correctly when importing csv", ["manifests"]],
	// asafdav/ng-csv issue 28
	["European Excel wants semicolon separated files", ["manifests", "manifest"]],
	// bacalhau-project/bacalhau issue 143
	["the same work across shards in parallel", ["many-machines"]],
];

async function found(question: string): Promise<readonly string[]> {
	const { stdout } = await ragtag(["help", "--search", question, "--json"]);
	return parseLines(stdout)
		.slice(1)
		.map((line) => String(at(line, "name")));
}

describe("ragtag help --search", () => {
	it("has the right page among its first three answers for 18 of 20 questions of users", async () => {
		const missed: string[] = [];
		for (const [question, answers] of QUESTIONS) {
			const first = (await found(question)).slice(0, 3);
			if (!first.some((name) => answers.includes(name))) missed.push(`${question}: ${first.join(", ")}`);
		}
		expect(QUESTIONS).toHaveLength(20);
		expect(missed.length, missed.join("\n")).toBeLessThanOrEqual(2);
	});

	it("prints what to type, the heading and the line of each answer", async () => {
		const { exit, stdout } = await ragtag(["help", "--search", "too", "many", "requests"]);
		expect(exit).toBe(0);
		for (const pair of stdout.trimEnd().split(/\n(?=ragtag)/)) expect(pair).toMatch(/^ragtag help [a-z -]+\n {2}\S.*$/);
	});

	it("knows the words of other programs, and words with other ends", async () => {
		expect(await found("rollback")).toContain("runs undo");
		expect(await found("throttled")).toEqual(expect.arrayContaining(["runs"]));
		expect((await found("nightly"))[0]).toBe("cron");
		expect(await found("--only-changed")).toContain("docs tag");
	});

	it("says where to look when nothing is found, and exits 1 as grep does", async () => {
		expect(await ragtag(["help", "--search", "xylophone"])).toEqual({
			exit: 1,
			stdout: "",
			stderr:
				"ragtag: nothing in the manual has xylophone\nTry fewer or other words, or type `ragtag help` for all commands, tables and pages.\n",
		});
	});
});
