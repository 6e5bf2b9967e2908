import { spawnSync } from "node:child_process";
import { chmod, chown, mkdir, readdir } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { COMMAND, program, shell } from "../support/program.ts";
import { envOf, type Ended } from "../support/ragtag.ts";
import { file, folder, KEY, serve } from "../support/service.ts";
import { at, parseLines } from "../support/values.ts";

const isRoot = userInfo().uid === 0;

/** Root may write anywhere: then the program runs as a user that nobody is. */
const as = isRoot ? "setpriv --reuid 65534 --regid 65534 --clear-groups " : "";
const canRun = spawnSync("bash", ["-c", `${as}${COMMAND.join(" ")} --version`]).status === 0;

const check = ({ stdout }: Ended, name: string): unknown =>
	parseLines(stdout).find((line) => at(line, "type") === "check" && at(line, "name") === name);

it.skipIf(!canRun)("doctor names a state folder that can't be written, with the true cause", async () => {
	const service = await serve(2);
	const [id = ""] = await service.ids();
	const path = await file("tags.csv", `document_id,n\n${id},1\n`);
	const above = join(await folder(), "readonly");
	await mkdir(above);
	// Not the other folders of the test: the one that can't be written is in one that can be entered.
	for (const each of [dirname(above), dirname(path)]) await chmod(each, 0o755);
	await chmod(above, 0o555);
	const env = { ...envOf(service), HOME: above, XDG_STATE_HOME: join(above, "state") };
	const runs = join(above, "state", "ragtag", "runs");
	const told = `runs can't be recorded in ${runs}: permission denied, in ${above}`;

	const tagged = await shell(`${as}$RAGTAG docs tag ${path} -d ${service.dataset}`, env);
	expect([tagged.exit, tagged.stderr]).toEqual([7, expect.stringContaining(`${told}; nothing was sent`)]);
	expect(service.requests.filter((line) => line.startsWith("PUT"))).toEqual([]);

	const examined = await shell(`${as}$RAGTAG doctor --json`, env);
	expect(examined.exit).toBe(7);
	expect(check(examined, "storage")).toMatchObject({ status: "failed", text: told });
	// The way to the service is another matter.
	expect(check(examined, "right")).toMatchObject({ status: "ok" });

	const given = await shell(`${as}$RAGTAG docs tag ${path} -d ${service.dataset} --state-dir ${above}/x`, env);
	expect(given.exit).toBe(2);
	expect(given.stderr).toContain(`--state-dir ${above}/x: permission denied, in ${above}`);
});

it.skipIf(!isRoot || !canRun)(
	"a container's user without a name and a home can run the program (skipped unless root runs the test)",
	async () => {
		const unknown = "env -u HOME setpriv --reuid 54321 --regid 54321 --clear-groups";
		const { exit, stdout, stderr } = await shell(`${unknown} $RAGTAG --version`);
		expect([exit, stdout, stderr]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/), ""]);

		const service = await serve(1);
		const [id = ""] = await service.ids();
		const path = await file("tags.csv", `document_id,n\n${id},1\n`);
		const own = join(await folder(), "state");
		for (const each of [dirname(own), dirname(path)]) await chmod(each, 0o755);
		await mkdir(own, { mode: 0o700 });
		await chown(own, 54321, 54321);
		const keyFile = await file("key", `${KEY}\n`);
		await chmod(dirname(keyFile), 0o755);
		await chown(keyFile, 54321, 54321);
		await chmod(keyFile, 0o600);
		const tagged = await shell(
			`${unknown} $RAGTAG docs tag ${path} -d ${service.dataset} --state-dir ${own} --api-key-file ${keyFile} -q`,
			{ RAGTAG_BASE_URL: service.url },
		);
		expect([tagged.exit, tagged.stderr]).toEqual([0, ""]);
	},
);

it("doctor tests the folder of runs by a write, reports the free space, and leaves no file", async () => {
	const service = await serve(1);
	const state = await folder();
	const ended = await program(["doctor", "--json", "--state-dir", join(state, "deep", "state")], envOf(service));
	expect(ended.exit).toBe(0);
	expect(check(ended, "storage")).toMatchObject({ text: expect.stringMatching(/runs; [\d.]+ [kMGTP]?B free/) });
	// What it learned of the service is kept, as by every command.
	expect(await readdir(join(state, "deep", "state"))).toEqual(["services"]);
	// No file may grow, which fails as a full disk does.
	const full = await shell(`trap '' XFSZ; ulimit -f 0; $RAGTAG doctor --state-dir ${state}/full`, envOf(service));
	expect([full.exit, full.stdout]).toEqual([7, expect.stringMatching(/failed +storage +runs can't be recorded/)]);
	expect(await readdir(join(state, "full")).catch(() => [])).not.toContain("runs");
});

it("doctor reports that something else is in the place of the state folder", async () => {
	const service = await serve(1);
	const state = await file("state", "");
	const ended = await program(["doctor", "--json", "--state-dir", state], envOf(service));
	expect(ended.exit).toBe(7);
	expect(check(ended, "storage")).toMatchObject({ text: expect.stringContaining("not a directory") });
});
