import { describe, expect, it } from "vitest";
import { ragtag } from "../../support/ragtag.ts";

const TAKEN = "";

/** Options of other programs that mean something here: the program, a command line here, and what is answered. */
const OPTIONS: readonly (readonly [program: string, line: string, answer: string])[] = [
	["gh", "docs list -d x --limit 5", TAKEN],
	["gh", "docs list -d x -L 5", "--limit N"],
	["gh", "docs list -d x --json", TAKEN],
	["gh", "docs list -d x --search a", "--where KEY=VALUE"],
	["gh", "docs list -d x --repo a", "-d DATASET"],
	["gh", "runs undo --yes", TAKEN],
	["rclone", "docs upload a -n", TAKEN],
	["rclone", "docs upload a --dry-run", TAKEN],
	["rclone", "docs tag a.csv --transfers 4", "--concurrency N"],
	["rclone", "docs tag a.csv --tpslimit 10", "--rate N"],
	["rclone", "docs tag a.csv --bwlimit 10M", "--rate N"],
	["rclone", "docs tag a.csv --retries 3", "--attempts N"],
	["rclone", "docs tag a.csv --low-level-retries 3", "--attempts N"],
	["rclone", "docs sync a -d x --max-delete 10", "--max-remove N"],
	["rclone", "docs sync a -d x --backup-dir b", "--trash"],
	["rclone", "docs sync a -d x --max-duration 1h", TAKEN],
	["rclone", "docs sync a -d x --include b", TAKEN],
	["rclone", "docs sync a -d x --exclude b", TAKEN],
	["rclone", "docs sync a -d x --filter b", "--include GLOB"],
	["rclone", "docs sync a -d x --checksum", TAKEN],
	["rclone", "docs upload a --ignore-existing", "--on-existing skip"],
	["rclone", "docs tag a.csv --timeout 5m", TAKEN],
	["rclone", "docs tag a.csv -q", TAKEN],
	["rclone", "docs tag a.csv -v", "--debug"],
	["rclone", "docs tag a.csv -P", "--progress"],
	["terraform", "docs rm a.csv -auto-approve", "--yes answers the question"],
	["terraform", "docs plan a.csv -out=x", "Type: --out"],
	["terraform", "docs tag a.csv -var a=b", "--set KEY=VALUE"],
	["terraform", "docs tag a.csv -parallelism=4", "--concurrency N"],
	["terraform", "docs tag a.csv -detailed-exitcode", "Type: --detailed-exitcode"],
	["terraform", "docs tag a.csv -no-color", "Type: --no-color"],
	["terraform", "docs tag a.csv -json", "Type: --json"],
	["curl", "docs resolve a.csv -d x -o b.csv", TAKEN],
	["curl", "docs list -d x -x p", "HTTPS_PROXY"],
	["curl", "docs list -d x -k", "--ca-file PATH"],
	["curl", "docs list -d x --cacert f", "--ca-file PATH"],
	["curl", "docs list -d x -H a", "RAGTAG_API_KEY"],
	["curl", "docs tag a.csv -s", "--quiet"],
	["curl", "docs tag a.csv -m 5", "--timeout TIME"],
	["curl", "docs tag a.csv --retry 5", "--attempts N"],
	["curl", "docs tag a.csv --limit-rate 5", "--rate N"],
	["dsbulk", "docs tag a.csv -dryRun", "Type: --dry-run"],
	["dsbulk", "docs tag a.csv -maxErrors 10", "Type: --max-errors"],
	["dsbulk", "docs tag a.csv -maxConcurrentQueries 4", "--concurrency N"],
	["dsbulk", "docs tag a.csv --executor.maxPerSecond 10", "--rate N"],
	["dsbulk", "docs tag a.csv -header true", "first line of a CSV is its header"],
	["dsbulk", "docs tag a.csv -encoding latin1", "Type: --encoding"],
];

describe("options that people know from other programs", () => {
	it.each(OPTIONS)("who knows %s and types %s loses no time", async (_program, line, answer) => {
		const { exit, stdout, stderr } = await ragtag(line.split(" "), { home: "/nonexistent" });
		expect([exit, stdout]).toEqual([2, ""]);
		// What is taken fails later, for want of a server.
		if (answer === TAKEN) expect(stderr).not.toMatch(/unknown option|is no option/);
		else expect(stderr).toContain(answer);
	});
});
