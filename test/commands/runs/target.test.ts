import { chmod, cp, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { says } from "../../support/ended.ts";
import { recorded, runOf, stopAt, tagged, tagging, toTag } from "../../support/recorded.ts";
import { file, folder, KEY, profilesIn, serve } from "../../support/service.ts";

const key = { RAGTAG_API_KEY: KEY };

it.each(["resume", "retry", "undo", "verify"])(
	"runs %s sends the environment's key to no address that a record alone gives, and prints the line to type",
	async (verb) => {
		const { world, run } = await tagged(6, stopAt(4));
		const sent = world.service.requests.length;
		const argv = ["runs", verb, run, ...(verb === "undo" ? ["--yes"] : [])];
		const asked = await says(world.run(argv, { env: key }), 2, "nothing was sent");
		const line = asked.stderr.match(/type: ragtag (.*)$/m)?.[1] ?? "";
		expect(line).toBe(`runs ${verb} ${run} --base-url ${world.service.url}/api/v1`);
		expect(world.service.requests).toHaveLength(sent);
		const given = await world.run([...line.split(" "), ...argv.slice(3)], { env: key });
		expect([given.exit, given.stderr]).toEqual([0, expect.not.stringContaining("which only its record says")]);
		expect(world.service.requests.length).toBeGreaterThan(sent);
	},
);

it("address and key in the environment work without a message", async () => {
	const world = await recorded(6, stopAt(4));
	await world.run((await tagging(world)).argv);
	const { exit, stderr } = await world.run(["runs", "resume"]);
	expect([exit, stderr]).toEqual([0, expect.not.stringMatching(/address|base-url/)]);
});

it("a planted state folder gets no key: its record names a service of its own", async () => {
	const world = await recorded(6, stopAt(4));
	const thief = await serve(6);
	const run = runOf((await world.run((await tagging(world)).argv)).stdout);
	const planted = await folder();
	await cp(world.state, planted, { recursive: true });
	const path = join(planted, "runs", run, "run.json");
	await writeFile(path, (await readFile(path, "utf8")).replaceAll(world.service.url, thief.url));
	for (const verb of ["resume", "retry", "verify"]) {
		expect((await world.run(["runs", verb, run, "--state-dir", planted], { env: key })).exit).toBe(2);
	}
	expect(thief.requests).toEqual([]);
});

it("the profile that a run was begun with gives its address and its key again", async () => {
	const world = await recorded(6, stopAt(4));
	const key = await file("key", KEY);
	await profilesIn(world.home, `{prod: {base_url: "${world.service.url}", api_key_file: "${key}"}}`);
	const { argv } = await tagging(world);
	expect((await world.run([...argv, "--profile", "prod"], { env: {} })).exit).toBe(4);
	expect((await world.run(["runs", "resume"], { env: {} })).exit).toBe(0);
});

it("records that others can write are refused, and nothing is sent", async () => {
	const { world, run } = await tagged(6, stopAt(4));
	const sent = world.service.requests.length;
	await chmod(world.path(run, "run.json"), 0o666);
	for (const argv of [["resume"], ["verify", run], ["undo", run, "--yes"], ["list"]]) {
		await says(world.run(["runs", ...argv]), 2, "can be written by others");
	}
	expect(world.service.requests).toHaveLength(sent);
});

it("a state folder that others can write is closed, and so is all below it, whatever the umask was", async () => {
	const { world, argv } = await toTag(3);
	for (const name of ["", "runs", "runs/.locks", "tmp"]) {
		await mkdir(join(world.state, name), { recursive: true });
		await chmod(join(world.state, name), 0o777);
	}
	await says(world.run(argv), 0, "its mode is now 0700");
	const below = await readdir(world.state, { recursive: true, withFileTypes: true });
	for (const path of [
		world.state,
		...below.filter((each) => each.isDirectory()).map((each) => join(each.parentPath, each.name)),
	]) {
		expect([path, ((await stat(path)).mode & 0o777).toString(8)]).toEqual([path, "700"]);
	}
});

it("undo at another address names the run and both addresses, and sends nothing", async () => {
	const world = await recorded(6, stopAt(4));
	const other = await serve(6);
	const run = runOf((await world.run((await tagging(world)).argv)).stdout);
	const { exit, stderr } = await world.run(["runs", "undo", run, "--yes", "--base-url", other.url]);
	expect([exit, other.requests.length]).toEqual([8, 0]);
	const addresses = `wrote to ${world.service.url}/api/v1, and this would go to ${other.url}/api/v1`;
	expect(stderr).toContain(`run ${run} ${addresses}; nothing was sent`);
});
