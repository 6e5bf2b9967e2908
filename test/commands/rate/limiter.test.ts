import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { systemClock } from "../../../src/run/clock.ts";
import { RIGHTS, SCRIPT, nameOfCap } from "../../../src/run/rate/shared/redis.ts";
import { hasOpenssl, selfSigned } from "../../support/certificate.ts";
import { freePort, hasRedis, redisServer, withoutRedis } from "../../support/redis.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { KEY, file, folder, serve } from "../../support/service.ts";
import { summaryOf } from "../../support/values.ts";

async function world() {
	const service = await serve(3);
	const rows = (await service.ids()).map((id) => `${id},Ann\n`);
	const manifest = await file("tags.csv", `document_id,author\n${rows.join("")}`);
	const argv = ["docs", "tag", manifest, "-d", service.dataset, "--json"];
	const before = service.requests.length;
	return { sent: () => service.requests.slice(before), argv, env: envOf(service) };
}

it("a Redis that can't be reached at the start is exit 6, and nothing is sent", async () => {
	const { sent, argv, env } = await world();
	const port = await freePort();
	const ended = await ragtag([...argv, "--limiter", `redis://127.0.0.1:${port}`], { env });
	await says(ended, 6, `Redis at 127.0.0.1:${port} can't be reached`, "--rate N");
	expect(sent()).toEqual([]);
});

it.skipIf(!hasRedis)(`a wrong password is exit 2, and is not printed${withoutRedis}`, async () => {
	const { sent, argv, env } = await world();
	const { url } = await redisServer({ password: "right-password" });
	const limiter = url.replace("://", "://:wrong-password@");
	const { exit, stderr } = await ragtag(argv, { env: { ...env, RAGTAG_LIMITER: limiter } });
	expect(exit).toBe(2);
	expect(stderr).not.toContain("wrong-password");
	expect(sent()).toEqual([]);
});

it.skipIf(!hasRedis)(`the summary of a run says that its cap was shared${withoutRedis}`, async () => {
	const { argv, env } = await world();
	const { url } = await redisServer();
	const { exit, stdout, stderr } = await ragtag([...argv, "--limiter", url], { env });
	expect(exit).toBe(0);
	expect(summaryOf(stdout)).toMatchObject({ updated: 3, limiter: { shared: true, away_seconds: 0 } });
	expect(stderr).toContain("The cap of 100 requests a second is shared. No other run shares it now.");
});

const PASSWORD = "Xq7zzT-vv12wq";

/** A Redis with a user of those rights, and its address for that user. */
async function withUser(rights: string): Promise<string> {
	const { url, cli } = await redisServer();
	expect(cli("ACL", "SETUSER", "ann", "on", `>${PASSWORD}`, ...rights.split(" "))).toBe("OK\n");
	return url.replace("://", `://ann:${PASSWORD}@`);
}

it("the rights that a message and docs/many-machines.md name are those of the commands that the script calls", async () => {
	const called = [...SCRIPT.matchAll(/redis\.call\('([A-Z]+)'/g)].map(([, name = ""]) => `+${name.toLowerCase()}`);
	const besides = ["+eval", "+evalsha", "+hdel", "+select"];
	expect(new Set(RIGHTS.split(" ").slice(1))).toEqual(new Set([...called, ...besides]));
	const page = await readFile(new URL("../../../docs/many-machines.md", import.meta.url), "utf8");
	expect(page).toContain(`ACL SETUSER ragtag on >PASSWORD ${RIGHTS}\n`);
});

it.skipIf(!hasRedis)(`a user with just these rights shares the cap, in any database${withoutRedis}`, async () => {
	const { argv, env } = await world();
	const limiter = await withUser(RIGHTS);
	for (const database of ["", "/3"]) {
		const ended = await ragtag(argv, { env: { ...env, RAGTAG_LIMITER: `${limiter}${database}` } });
		await ends(ended, 0, { updated: 3, limiter: { shared: true } });
	}
});

it.skipIf(!hasRedis).each([
	["a right is missing", RIGHTS.replace(" +hgetall", ""), "", "Its user needs these rights: ~ragtag:limiter:*"],
	["the keys are others", RIGHTS.replace("ragtag", "other"), "", "Its user needs these rights: ~ragtag:limiter:*"],
	["it may not select the database", RIGHTS.replace(" +select", ""), "/3", "Its user needs these rights"],
	["there is no such database", RIGHTS, "/99", "the number of the database"],
])(`%s: exit 2, and nothing is sent${withoutRedis}`, async (_name, rights, database, text) => {
	const { sent, argv, env } = await world();
	const limiter = `${await withUser(rights)}${database}`;
	await says(ragtag(argv, { env: { ...env, RAGTAG_LIMITER: limiter } }), 2, text);
	expect(sent()).toEqual([]);
});

it.skipIf(!hasRedis).each([
	["is full", 6, ["CONFIG SET maxmemory 1"], "OOM command not allowed", "make room"],
	["is read-only", 6, ["REPLICAOF 127.0.0.1 1"], "READONLY You can't write", "takes writes"],
	["has another type under the key", 2, ["SET KEY other"], "WRONGTYPE Operation against a key", "Another program"],
])(`a Redis that %s refuses in its words; nothing is sent${withoutRedis}`, async (_, code, commands, words, hint) => {
	const { sent, argv, env } = await world();
	const { url, cli } = await redisServer();
	const key = await nameOfCap(`${env["RAGTAG_BASE_URL"]}/api/v1`, KEY);
	for (const command of commands) cli(...command.replace("KEY", key).split(" "));
	const { exit, stderr } = await ragtag([...argv, "--limiter", url], { env });
	expect([exit, stderr]).toEqual([code, expect.stringContaining("refuses the shared limiter: ")]);
	expect(stderr).toContain(words);
	expect(stderr).toContain(hint);
	expect(stderr).not.toContain("user_script");
	expect(sent()).toEqual([]);
});

it.skipIf(!hasRedis)(`the password is in no output and in no record${withoutRedis}`, async () => {
	const { argv, env } = await world();
	const limiter = await withUser(RIGHTS);
	const home = await folder();
	const report = join(home, "run.html");
	const outputs = ["--report", report, "--log-file", join(home, "run.log"), "--debug"];
	// The run before has used up the cap of this second, so the first row goes after one or two.
	const stopped = ["--limiter", limiter, "--rate", "1", "--max-duration", "2500ms"];
	const said = [];
	for (const more of [["--limiter", limiter], stopped, ["--dry-run", "--limiter", limiter]]) {
		const ended = await ragtag([...argv, ...outputs, ...more], { env, home, clock: systemClock });
		said.push(ended.stdout, ended.stderr);
	}
	const wrong = limiter.replace(PASSWORD, `${PASSWORD}-wrong`);
	const refused = await says(ragtag([...argv, "--limiter", wrong, "--debug"], { env, home }), 2, "WRONGPASS");
	expect(said.join("")).toContain("ragtag runs resume");
	const names = await readdir(home, { recursive: true, withFileTypes: true });
	const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
	expect(files.length).toBeGreaterThan(5);
	const texts = await Promise.all(files.map((path) => readFile(path, "latin1")));
	for (const text of [...said, refused.stdout, refused.stderr, ...texts]) expect(text).not.toContain(PASSWORD);
});

it.skipIf(!hasRedis)(`a node of a Redis Cluster is exit 2${withoutRedis}`, async () => {
	const { sent, argv, env } = await world();
	const { url } = await redisServer({ flags: ["--cluster-enabled", "yes", "--dir", await folder()] });
	for (const database of ["", "/1"]) {
		await says(ragtag([...argv, "--limiter", `${url}${database}`], { env }), 2, "belongs to a Redis Cluster");
	}
	expect(sent()).toEqual([]);
});

it.skipIf(!hasRedis || !hasOpenssl)(`with TLS, exit 4 until the authority is named${withoutRedis}`, async () => {
	const { sent, argv, env } = await world();
	const { path, keyPath } = await selfSigned();
	const { url } = await redisServer({ tls: { cert: path, key: keyPath }, password: PASSWORD });
	const limiter = url.replace("://", `://:${PASSWORD}@`);
	await says(ragtag(argv, { env: { ...env, RAGTAG_LIMITER: limiter } }), 4, "--ca-file");
	await says(ragtag(argv, { env: { ...env, RAGTAG_LIMITER: limiter.replace("rediss", "redis") } }), 6, "rediss://");
	expect(sent()).toEqual([]);
	const ended = await ragtag([...argv, "--ca-file", path], { env: { ...env, RAGTAG_LIMITER: limiter } });
	await ends(ended, 0, { updated: 3, limiter: { shared: true } });
});
