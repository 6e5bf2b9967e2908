import { describe, it } from "vitest";
import { idOf as id, KEY, serve } from "../support/service.ts";
import { Transcript } from "./transcript.ts";

/** Rows that are sent at once may end in any order, and a transcript is compared whole. */
const inOrder = ["--concurrency", "1"];

/** Mistakes that people make, with the cause and the next command that each output must have. */
describe("what plausible mistakes are answered with", () => {
	it("settings and words", async () => {
		const service = await serve(3, { flavour: "ragflow-0.21" });
		const say = await Transcript.start(service);
		const d = ["-d", service.dataset];
		const tags = await say.file("tags.csv", `document_id,author\n${id(1)},Ann\n`);
		const withKey = (key: string) => ({ env: { RAGTAG_BASE_URL: service.url, RAGTAG_API_KEY: key } });
		await say.run(["datasets", "list"], withKey(`"${KEY}"`));
		await say.run(["datasets", "list"], withKey(`'${KEY}`));
		await say.run(["datasets", "list", "--api-key", KEY]);
		await say.run(["--api-key", KEY, "datasets", "list"]);
		await say.run(["datasets", "list", `--api-key=${KEY}`]);
		await say.run(["docs", "upload", tags, ...d]);
		await say.run(["docs", "remove", tags]);
		await say.run(["docs", "delete", tags]);
		await say.run(["tag", tags]);
		await say.run(["list"]);
		await say.run(["-v"]);
		await say.run(["version"]);
		await say.run(["login"]);
		await say.matches("mistakes");
	});

	for (const flavour of ["documented", "ragflow-0.21", "ragflow-0.27"] as const) {
		it(`an address that does not end where the API begins, ${flavour}`, async () => {
			const service = await serve(3, { flavour });
			const say = await Transcript.start(service);
			const d = ["-d", service.dataset];
			const tags = await say.file("tags.csv", `document_id,author\n${id(1)},Ann\n`);
			for (const path of ["/v1", "/knowledge", "/api/v2"]) {
				const world = { env: { RAGTAG_BASE_URL: service.url + path, RAGTAG_API_KEY: KEY } };
				await say.run(["datasets", "list"], world);
				await say.run(["docs", "list", ...d], world);
				await say.run(["docs", "tag", tags, ...d, ...inOrder], world);
				await say.run(["docs", "rm", "--id", id(1), ...d, "--yes"], world);
			}
			await say.matches(`mistakes-address-${flavour}`);
		});
	}

	it("rows", async () => {
		const service = await serve(3, { flavour: "ragflow-0.21" });
		const say = await Transcript.start(service);
		const d = ["-d", service.dataset];
		const ids = Array.from({ length: 12 }, (_, at) => `${id(100 + at)},Ann\n`);
		const unknown = await say.file("unknown.csv", `document_id,author\n${ids.join("")}`);
		const twice = await say.file("twice.csv", `document_id,author\n${id(1)},Ann\n${id(1)},Ann\n`);
		const tags = await say.file("tags.csv", `document_id,author\n${id(1)},Ann\n`);
		await say.run(["docs", "tag", unknown, ...d, ...inOrder]);
		await say.run(["docs", "tag", twice, ...d, ...inOrder]);
		await say.run(["docs", "rm", "--id", id(1), ...d], { terminal: true });
		await say.run(["docs", "rm", "--id", id(1), id(2), ...d], { terminal: true });
		const wrongKey = { env: { RAGTAG_BASE_URL: service.url, RAGTAG_API_KEY: "ragflow-no" } };
		await say.run(["docs", "tag", tags, ...d, ...inOrder], wrongKey);
		await say.run(["runs", "list"]);
		await say.matches("mistakes-rows");
	});
});
