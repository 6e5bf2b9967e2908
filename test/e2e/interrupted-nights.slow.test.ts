import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { program } from "../support/program.ts";
import { envOf, type Ended } from "../support/ragtag.ts";
import { file, folder, serve, type Service } from "../support/service.ts";
import { at, parseLines, range, summaryOf } from "../support/values.ts";

type Night = {
	readonly service: Service;
	readonly env: Record<string, string>;
	/** the letters that documents hold, and how many hold each */
	held(): Promise<Record<string, number>>;
};

async function nights(documents: number): Promise<Night> {
	const service = await serve(documents);
	return {
		service,
		env: { ...envOf(service), RAGTAG_STATE_DIR: await folder() },
		held: async () => {
			const held: Record<string, number> = {};
			for (const { metadata } of await service.documents()) {
				const letter = String(at(metadata, "v"));
				held[letter] = (held[letter] ?? 0) + 1;
			}
			return held;
		},
	};
}

const run = ({ stdout }: Ended): string => String(at(summaryOf(stdout), "run"));

/** Lets a program live two days ahead of its time. Required, as the executable ignores `--import`. */
const AHEAD = `const Real = Date;
const shift = 2 * 86_400_000;
globalThis.Date = class extends Real {
	constructor(...given) { if (given.length === 0) super(Real.now() + shift); else super(...given); }
	static now() { return Real.now() + shift; }
};
`;

it("undo picks the right run although the clock was once two days ahead", async () => {
	const night = await nights(4);
	const [one = "", two = ""] = await night.service.ids();
	const tag = async (name: string, id: string, env: Record<string, string>): Promise<string> => {
		const path = await file(`${name}.csv`, `document_id,v\n${id},${name}\n`);
		return run(await program(["docs", "tag", path, "-d", night.service.dataset, "--json"], { ...night.env, ...env }));
	};
	const clock = await file("ahead.cjs", AHEAD);
	const ahead = await tag("ahead", one, { NODE_OPTIONS: `--require ${clock}` });
	const now = await tag("now", two, {});
	expect(ahead > now).toBe(true);
	const listed = parseLines((await program(["runs", "list", "--json"], night.env)).stdout);
	expect(listed.map((line) => at(line, "run"))).toEqual([now, ahead]);
	expect(await night.held()).toEqual({ ahead: 1, now: 1, undefined: 2 });
	expect((await program(["runs", "undo", "--yes"], night.env)).exit).toBe(0);
	expect(await night.held()).toEqual({ ahead: 1, undefined: 3 });
});

it("six runs that start at once get six different numbers, and none is lost", async () => {
	const night = await nights(6);
	const ids = await night.service.ids();
	const manifests = await Promise.all(ids.map((id, n) => file(`${n}.csv`, `document_id,v\n${id},${n}\n`)));
	const ended = await Promise.all(
		manifests.map((path) => program(["docs", "tag", path, "-d", night.service.dataset, "--json"], night.env)),
	);
	const runs = ended.map(run);
	const orders = await Promise.all(
		runs.map(async (name) => {
			const record: unknown = JSON.parse(
				await readFile(`${night.env["RAGTAG_STATE_DIR"]}/runs/${name}/run.json`, "utf8"),
			);
			return Number(at(record, "order"));
		}),
	);
	expect(orders.toSorted((a, b) => a - b)).toEqual(range(6, 1));
});
