import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { shell, program } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { folder, serve } from "../support/service.ts";
import { range, summaryOf } from "../support/values.ts";

/** A dataset of a file of each size, in bytes, and a folder that is not there yet. */
async function filled(sizes: readonly number[]) {
	const service = await serve(0, { flavour: "ragflow-0.27" });
	const [home, place] = [await folder(), await folder()];
	const env = { ...envOf(service), XDG_STATE_HOME: join(home, "state") };
	/** as `sha256sum` prints them */
	const lines: string[] = [];
	for (const [n, size] of sizes.entries()) {
		const [name, content] = [`f${String(n).padStart(2, "0")}.txt`, randomBytes(size)];
		await writeFile(join(place, name), content);
		lines.push(`${createHash("sha256").update(content).digest("hex")}  ./${name}`);
	}
	expect((await program(["docs", "upload", place, "-d", service.dataset], env)).exit).toBe(0);
	const out = join(home, "out");
	return { service, env, out, lines, argv: `docs download -d ${service.dataset} --out ${out} --concurrency 2 --json` };
}

/** A disk of a few bytes, which a command alone sees: a namespace of its user. */
const NAMESPACE = "unshare --user --map-root-user --mount";
const hasSmallDisk = spawnSync("sh", ["-c", `${NAMESPACE} mount -t tmpfs -o size=64k none /mnt`]).status === 0;
const skipped = hasSmallDisk ? "" : " (SKIPPED: no user of this machine may mount a small disk)";

it.skipIf(!hasSmallDisk)(
	`a disk that fills while documents are downloaded is exit 7: no half file is there, and a resume finishes${skipped}`,
	async () => {
		const { env, out, lines, argv } = await filled(range(20).map(() => 20_000));
		const sums = `(cd ${out}; echo "parts $(ls -A | grep -c "[.]part$")"; sha256sum ./f*.txt)`;
		const script = [
			`mkdir ${out}; mount -t tmpfs -o size=200k none ${out}`,
			`$RAGTAG ${argv}; echo "exit $?"; ${sums}; echo @`,
			`mount -o remount,size=10m ${out}; $RAGTAG runs resume --json; echo "exit $?"; ${sums}`,
		];
		const { stdout } = await shell(`${NAMESPACE} bash -c '${script.join("\n")}'`, env);
		const [full = "", resumed = ""] = stdout.split("@\n");
		const printed = (text: string): string[] => text.split("\n").filter((line) => /^[0-9a-f]{64} /.test(line));
		expect(full).toMatch(/"exit_code":7.*\nexit 7\nparts 0\n/);
		expect(printed(full).length).toBeGreaterThan(3);
		expect(printed(full).length).toBeLessThan(20);
		expect(lines).toEqual(expect.arrayContaining(printed(full)));
		expect(resumed).toMatch(/"downloaded":20,.*\nexit 0\nparts 0\n/);
		expect(printed(resumed)).toEqual(lines);
	},
);

it("a file that the disk can't hold is a failed row, with no half of it: the others come, and a retry brings it", async () => {
	const { env, out, lines, argv } = await filled([1000, 200_000, 1000]);
	const found = async (): Promise<string[]> => (await readdir(out)).filter((name) => /^f|part$/.test(name)).toSorted();
	// No file may have more than 64 blocks of a kilobyte, as on a file system with such a limit.
	const { exit, stdout, stderr } = await shell(`trap '' XFSZ; ulimit -f 64; $RAGTAG ${argv}`, env);
	expect([exit, summaryOf(stdout)]).toMatchObject([1, { downloaded: 2, failed: 1 }]);
	expect([stderr, await found()]).toEqual([expect.stringContaining("too large"), ["f00.txt", "f02.txt"]]);
	expect((await program(["runs", "retry"], env)).exit).toBe(0);
	const sums = spawnSync("sh", ["-c", "sha256sum ./f*.txt"], { cwd: out, encoding: "utf8" });
	expect(sums.stdout.trim().split("\n")).toEqual(lines);
});
