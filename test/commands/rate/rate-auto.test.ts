import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { says } from "../../support/ended.ts";
import { normaliseBaseUrl } from "../../../src/rest/url.ts";
import { keptRateText } from "../../../src/run/rate/rate-memory.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, KEY, profilesIn, serve } from "../../support/service.ts";
import { summaryOf } from "../../support/values.ts";

async function world() {
	const service = await serve(3);
	const rows = (await service.ids()).map((id) => `${id},Ann\n`);
	const manifest = await file("tags.csv", `document_id,author\n${rows.join("")}`);
	const state = await folder();
	const env = { ...envOf(service), RAGTAG_STATE_DIR: state };
	const before = service.requests.length;
	const name = createHash("sha256").update(normaliseBaseUrl(service.url)).digest("hex").slice(0, 16);
	const kept = join(state, "services", `${name}.rate.json`);
	const keep = async (text: string): Promise<void> => {
		await mkdir(join(state, "services"), { recursive: true, mode: 0o700 });
		await writeFile(kept, text, { mode: 0o600 });
	};
	const tag = ["docs", "tag", manifest, "-d", service.dataset];
	return { service, manifest, state, env, kept, keep, tag, sent: () => service.requests.slice(before) };
}

describe("--rate auto", () => {
	it("begins near what an earlier run found at this address, and the summary says what was found", async () => {
		const { service, env, keep, tag } = await world();
		await keep(keptRateText(normaliseBaseUrl(service.url), { rate: 400, because: "429", at: 420 }, new Date()));
		const { exit, stdout, stderr } = await ragtag([...tag, "--rate", "auto", "--json"], { env });
		expect(exit).toBe(0);
		expect(summaryOf(stdout)).toMatchObject({ updated: 3, found_rate: { rate: 360, because: null, at: null } });
		expect(stderr).toContain("rate auto: no limit was seen up to 360 a second\n");
		const shown = await ragtag(["runs", "show"], { env });
		expect(shown.stdout).toContain("rate auto  no limit was seen up to 360 a second\n");
		const json = await ragtag(["runs", "show", "--json"], { env });
		expect(JSON.parse(json.stdout)).toMatchObject({ found_rate: { rate: 360, because: null, at: null } });
	});

	it("leaves what is kept alone if it was too short to find anything", async () => {
		const { service, env, kept, keep, tag } = await world();
		const text = keptRateText(normaliseBaseUrl(service.url), { rate: 400, because: "429", at: 420 }, new Date());
		await keep(text);
		expect((await ragtag([...tag, "--rate", "auto"], { env })).exit).toBe(0);
		expect(await readFile(kept, "utf8")).toBe(text);
	});

	it("a damaged file gets a note, and the run goes on", async () => {
		const { env, kept, keep, tag } = await world();
		await keep("{");
		const ended = await ragtag([...tag, "--rate", "auto"], { env });
		await says(ended, 0, `${kept} is damaged, and is not used: the rate is looked for anew.`);
	});

	it("keeps no key, and nothing where the address holds a piece of it", async () => {
		const { env, keep, service, tag, state } = await world();
		await keep(keptRateText(normaliseBaseUrl(service.url), { rate: 400, because: "429", at: 420 }, new Date()));
		const key = `ragflow-${new URL(service.url).host}`;
		await ragtag([...tag, "--rate", "auto"], { env: { ...env, RAGTAG_API_KEY: key } });
		for (const name of await readdir(join(state, "services"))) {
			expect(await readFile(join(state, "services", name), "utf8")).not.toContain(KEY.slice(8));
		}
	});

	it("is taken from a profile, and by commands that only read", async () => {
		const { service, env } = await world();
		const home = await folder();
		await profilesIn(home, `{fast: {base_url: "${service.url}", rate: auto}}`);
		for (const argv of [
			["docs", "list", "-d", service.dataset, "--profile", "fast"],
			["docs", "list", "-d", service.dataset, "--rate", "auto"],
			["docs", "list", "-d", service.dataset, "--rate", "08:00=20 20:00=auto"],
		]) {
			expect(await ragtag(argv, { env, home })).toMatchObject({ exit: 0 });
		}
		const { stdout } = await ragtag(["doctor", "--rate", "auto"], { env, home });
		expect(stdout).toContain("auto (--rate)");
	});

	it.each(["auto", "08:00=20 20:00=auto"])(
		"%s with a cap that runs share is refused, with what to type",
		async (rate) => {
			const { service, env, keep, tag, sent } = await world();
			await keep(keptRateText(normaliseBaseUrl(service.url), { rate: 148, because: "latency", at: 155 }, new Date()));
			const { exit, stderr } = await ragtag([...tag, "--rate", rate, "--limiter", "redis://127.0.0.1:1"], { env });
			expect(exit).toBe(2);
			expect(stderr).toContain("a rate that is looked for (auto) can't be the cap that runs share by --limiter");
			expect(stderr).toContain("--rate 148");
			expect(sent()).toEqual([]);
		},
	);
});
