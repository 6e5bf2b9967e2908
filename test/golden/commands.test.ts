import { describe, it } from "vitest";
import { idOf as id, serve } from "../support/service.ts";
import { Transcript } from "./transcript.ts";

const TAGS = `document_id,author,category,pages:number\n${id(1)},Ann,news,4\n${id(2)},Ben,news,5\n${id(3)},Cem,blog,6\n`;

/** Rows that are sent at once may end in any order, and a transcript is compared whole. */
const inOrder = ["--concurrency", "1"];

/** Whole outputs: whoever changes what a user reads, or a script parses, sees it here. */
describe("what commands print", () => {
	it("datasets and lists", async () => {
		const service = await serve(3);
		await service.put(id(2), { author: "Ben", pages: 5 });
		const say = await Transcript.start(service);
		await say.run(["datasets", "list"]);
		await say.run(["datasets", "list"], { terminal: true });
		await say.run(["datasets", "list", "--json"]);
		await say.run(["datasets", "create", "reports"]);
		await say.run(["docs", "list", "-d", service.dataset]);
		for (const columns of [120, 80, 40]) {
			await say.run(["docs", "list", "-d", service.dataset], { terminal: true, columns });
		}
		await say.run(["docs", "list", "-d", service.dataset, "--limit", "1"], { terminal: true });
		for (const format of ["table", "csv", "tsv", "json", "jsonl"]) {
			await say.run(["docs", "list", "-d", service.dataset, "--format", format]);
		}
		await say.run(["docs", "list", "-d", service.dataset, "--where", "author=Ben"]);
		await say.run(["docs", "list", "-d", service.dataset, "--sort", "-name", "--limit", "2"]);
		await say.run(["docs", "list", "-d", service.dataset, "--fields", "name,autor"]);
		for (const where of ["athor=Ben", "news", "pages>4", "pages:number=4"]) {
			await say.run(["docs", "list", "-d", service.dataset, "--where", where]);
		}
		await say.run(["docs", "list", "-d", "no-such-dataset"]);
		await say.run(["docs", "list"]);
		await say.matches("lists");
	});

	it("tagging and runs", async () => {
		const service = await serve(4);
		const say = await Transcript.start(service);
		const tags = await say.file("tags.csv", TAGS);
		const bad = await say.file("unknown.csv", `document_id,author\n${id(1)},Ann\n${id(99)},Zoe\n`);
		const d = ["-d", service.dataset];
		await say.run(["manifest", "check", tags, ...d]);
		await say.run(["docs", "tag", tags, ...d, "--dry-run"]);
		await say.run(["docs", "tag", tags, ...d, "--dry-run", "--json"]);
		await say.run(["docs", "tag", tags, ...d, ...inOrder]);
		await say.run(["docs", "tag", tags, ...d, ...inOrder, "--only-changed", "--json"]);
		await say.run(["docs", "tag", bad, ...d, ...inOrder]);
		await say.run(["docs", "tag", bad, ...d, ...inOrder, "--json"]);
		await say.run(["docs", "tag", ...d, "--where", "category=news", "--set", "reviewed=yes", "--mode", "merge"]);
		await say.run(["docs", "tag", tags, ...d, ...inOrder, "--verify", "all"]);
		await say.run(["runs", "list"]);
		// Wide enough for any temporary folder: a narrower one would cut its path.
		await say.run(["runs", "list"], { terminal: true, columns: 300 });
		await say.run(["runs", "show"]);
		await say.run(["runs", "show", "--json"]);
		await say.run(["runs", "report"]);
		await say.run(["runs", "verify"]);
		await say.run(["runs", "verify", "--json"]);
		await say.run(["runs", "blame", id(2)]);
		await say.run(["runs", "undo", "--dry-run"]);
		await say.run(["runs", "undo", "--yes"]);
		await say.run(["runs", "undo"]);
		await say.run(["runs", "resume"]);
		await say.run(["runs", "retry"]);
		await say.run(["runs", "repair"]);
		await say.run(["runs", "prune", "--older-than", "1d"]);
		await say.matches("tagging");
	});

	it("manifests", async () => {
		const service = await serve(3);
		await service.put(id(1), { author: "Ann", tags: ["a", "b"], pages: 3, "name:text": "x" });
		const say = await Transcript.start(service);
		const wrong = await say.file(
			"wrong.csv",
			`document_id,author,publish_date,pages:number\n${id(1)},Ann,2026-02-30,four\n,Ben,2026-01-01,5\n${id(1)},Ann,2026-01-01,6\n`,
		);
		const names = await say.file("names.csv", "name,author\ndocument-0000002.txt,Ben\nunknown.txt,Zoe\n");
		const header = await say.file("header.csv", `documentid,author\n${id(1)},Ann\n`);
		await say.run(["manifest", "init", "-d", service.dataset]);
		await say.run(["manifest", "check", wrong]);
		await say.run(["manifest", "check", wrong, "--json"]);
		await say.run(["manifest", "check", header, "-d", service.dataset]);
		await say.run(["docs", "tag", wrong, "-d", service.dataset]);
		await say.run(["docs", "tag", `${say.folder}/missing.csv`, "-d", service.dataset]);
		await say.run(["docs", "resolve", names, "-d", service.dataset]);
		await say.matches("manifests");
	});

	it("plans", async () => {
		const service = await serve(3);
		const say = await Transcript.start(service);
		const tags = await say.file("tags.csv", TAGS);
		const plan = `${say.folder}/plan.jsonl`;
		await say.run(["docs", "plan", tags, "-d", service.dataset, "--out", plan]);
		await say.run(["docs", "apply", plan, "--dry-run"]);
		await service.put(id(2), { author: "Someone else" });
		await say.run(["docs", "apply", plan]);
		await say.run(["docs", "apply", plan, "--json"]);
		await say.matches("plans");
	});

	it("uploads and removals", async () => {
		const service = await serve(3, { flavour: "ragflow-0.21" });
		const say = await Transcript.start(service);
		await say.file("a.txt", "alpha\n");
		await say.file("b.txt", "beta\n");
		const uploads = await say.file("uploads.csv", "file,author\na.txt,Ann\nb.txt,Ben\n");
		const d = ["-d", service.dataset];
		await say.run(["docs", "upload", uploads, ...d, "--dry-run"]);
		await say.run(["docs", "upload", uploads, ...d, ...inOrder]);
		await say.run(["docs", "upload", uploads, ...d, ...inOrder]);
		await say.run(["docs", "upload", uploads, ...d, ...inOrder, "--on-existing", "update-metadata", "--json"]);
		await say.run(["docs", "rm", "--id", id(1), ...d, "--dry-run"]);
		await say.run(["docs", "rm", "--id", id(1), ...d]);
		await say.run(["docs", "rm", "--id", id(1), id(77), ...d, "--yes"]);
		await say.run(["docs", "rm", "--id", id(2), ...d, "--yes", "--json"]);
		await say.run(["runs", "undo", "--yes"]);
		await say.matches("uploads-and-removals");
	});

	it("rows in other letters, whose lists the service splits", async () => {
		const service = await serve(3, { flavour: "ragflow-0.26" });
		const say = await Transcript.start(service);
		const row = (number: number, meta_fields: object): string =>
			JSON.stringify({ document_id: id(number), meta_fields });
		const tags = await say.file(
			"名簿 São.jsonl",
			[
				row(1, { author: "关羽、孙权", topics: ["关羽、孙权", "张辽"] }),
				row(2, { author: "Conceição", topics: ["São Paulo", "甲，乙", "丙；丁"] }),
				row(3, { author: "Zoë 🦊🚀", topics: ["🦊🚀", "naïve"] }),
			].join("\n"),
		);
		const d = ["-d", service.dataset];
		await say.run(["docs", "tag", tags, ...d, "--dry-run"]);
		await say.run(["docs", "tag", tags, ...d, ...inOrder, "--verify", "all"]);
		await say.run(["docs", "tag", tags, ...d, ...inOrder, "--only-changed"]);
		await say.run(["docs", "list", ...d, "--format", "table", "--fields", "name,author,topics"]);
		await say.run(["docs", "list", ...d, "--where", "topics=张辽", "--format", "jsonl"]);
		await say.run(["manifest", "init", ...d]);
		await say.run(["values", ...d, "topics"]);
		await say.run(["runs", "verify"]);
		await say.run(["runs", "undo", "--yes"]);
		await say.run(["docs", "list", ...d]);
		await say.matches("letters");
	});

	it("settings and the service", async () => {
		const service = await serve(3, { flavour: "ragflow-0.21" });
		const say = await Transcript.start(service);
		await say.run(["doctor"]);
		await say.run(["doctor", "-d", service.dataset, "--json"]);
		await say.run(["doctor"], { env: {} });
		await say.run(["datasets", "list"], { env: {} });
		await say.run(["datasets", "list"], { env: { RAGTAG_BASE_URL: service.url, RAGTAG_API_KEY: "ragflow-no" } });
		await say.matches("settings");
	});
});
