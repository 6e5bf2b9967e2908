import { expect, it } from "vitest";
import { freePort, hasRedis, redisServer, withoutRedis } from "../support/redis.ts";
import { envOf, ragtag } from "../support/ragtag.ts";
import { file, serve } from "../support/service.ts";
import { summaryOf } from "../support/values.ts";

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
	const { exit, stderr } = await ragtag([...argv, "--limiter", `redis://127.0.0.1:${port}`], { env });
	expect(exit).toBe(6);
	expect(stderr).toContain(`Redis at 127.0.0.1:${port} can't be reached`);
	expect(stderr).toContain("--rate N");
	expect(sent()).toEqual([]);
});

it.skipIf(!hasRedis)(`a wrong password is exit 2, and is not printed${withoutRedis}`, async () => {
	const { sent, argv, env } = await world();
	const { url } = await redisServer("right-password");
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
