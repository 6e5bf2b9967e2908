import { describe, expect, it } from "vitest";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, profilesIn, serve } from "../../support/service.ts";
import { summaryOf } from "../../support/values.ts";

async function world() {
	const service = await serve(3);
	const rows = (await service.ids()).map((id) => `${id},Ann\n`);
	const manifest = await file("tags.csv", `document_id,author\n${rows.join("")}`);
	const before = service.requests.length;
	const env = { ...envOf(service), RAGTAG_STATE_DIR: await folder() };
	const tag = ["docs", "tag", manifest, "-d", service.dataset];
	return { service, env, tag, sent: () => service.requests.slice(before) };
}

describe("--rate auto", () => {
	it("is named in the summary and in the record, with what was found", async () => {
		const { env, tag } = await world();
		const { exit, stdout, stderr } = await ragtag([...tag, "--rate", "auto", "--json"], { env });
		expect(exit).toBe(0);
		expect(summaryOf(stdout)).toMatchObject({ updated: 3, found_rate: { rate: 20, because: null, at: null } });
		expect(stderr).toContain("rate auto: no limit was seen up to 20 a second\n");
		const shown = await ragtag(["runs", "show"], { env });
		expect(shown.stdout).toContain("rate auto  no limit was seen up to 20 a second\n");
		const json = await ragtag(["runs", "show", "--json"], { env });
		expect(JSON.parse(json.stdout)).toMatchObject({ found_rate: { rate: 20, because: null, at: null } });
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
			const { env, tag, sent } = await world();
			const { exit, stderr } = await ragtag([...tag, "--rate", rate, "--limiter", "redis://127.0.0.1:1"], { env });
			expect(exit).toBe(2);
			expect(stderr).toContain("a rate that is looked for (auto) can't be the cap that runs share by --limiter");
			expect(stderr).toContain("--rate N");
			expect(sent()).toEqual([]);
		},
	);
});
