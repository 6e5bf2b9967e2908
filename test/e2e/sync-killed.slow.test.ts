import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Flavour } from "../../src/sandbox/flavours/index.ts";
import { held } from "../support/content.ts";
import { killedWhen, program, start } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { folder, serve } from "../support/service.ts";
import { range } from "../support/values.ts";
import { isWhole } from "../support/whole.ts";

/** Requests after which the program is killed: the last is more than such a sync sends, about 40 at v0.21 and 50 at v0.27. */
const every = (step: number, first: number): readonly number[] =>
	range(Math.ceil(52 / step)).map((n) => step * n + first);
const STEPS = {
	"ragflow-0.21": every(isWhole ? 2 : 12, 2),
	"ragflow-0.27": every(isWhole ? 2 : 8, 1),
	"ragflow-1.0": every(isWhole ? 2 : 12, 3),
} as const satisfies Partial<Record<Flavour, readonly number[]>>;

const FLAVOURS = ["ragflow-0.21", "ragflow-0.27", "ragflow-1.0"] as const;

/** Milliseconds after its first request. */
const MOMENTS = range(isWhole ? 25 : 3).map((n) => (isWhole ? 18 : 180) * n);

/** Kills a sync with a change of each kind, and runs the same command again until it ends well. */
async function killed(flavour: Flavour, when: { readonly requests: number } | { readonly ms: number }) {
	const service = await serve(0, { flavour, latency: 3 });
	const home = await folder();
	const env = { ...envOf(service), HOME: home, XDG_STATE_HOME: join(home, "state") };
	const root = join(home, "papers");
	const write = async (path: string, text: string): Promise<void> => {
		await mkdir(dirname(join(root, path)), { recursive: true });
		await writeFile(join(root, path), text);
	};
	for (const path of ["changed", "moved", "tagged", "deleted", "same"])
		await write(`hr/${path}.txt`, `text of ${path}`);
	await write("hr/tagged.txt.meta.json", '{"author":"Ann"}');
	const theirs = join(home, "theirs.txt");
	await writeFile(theirs, "of another");
	expect((await program(["docs", "upload", theirs, "-d", service.dataset, "--rate", "5000"], env)).exit).toBe(0);
	const foreign = await held(service);
	// A file whose upload was cut off is searched for as long as a request may take.
	const argv = ["docs", "sync", root, "-d", service.dataset, "--rate", "5000", "--timeout", "10", "--remove"];
	expect((await program(argv, env)).exit).toBe(0);
	const foreignIds = new Set(foreign.map(({ name }) => name));
	for (const { id, name, metadata } of await service.documents()) {
		if (foreignIds.has(name)) continue;
		await service.put(id, { ...asObject(metadata), by_hand: "kept" });
	}
	await write("hr/changed.txt", "quite another text");
	await write("hr/new.txt", "text of new");
	await write("hr/tagged.txt.meta.json", '{"author":"Bob"}');
	await mkdir(join(root, "it"));
	await rename(join(root, "hr/moved.txt"), join(root, "it/moved.txt"));
	await rm(join(root, "hr/deleted.txt"));
	const before = service.requests.length;
	const running = start(argv, env);
	let since: number | undefined;
	await killedWhen(running, () => {
		const sent = service.requests.length - before;
		if (sent > 0) since ??= performance.now();
		return "requests" in when ? sent >= when.requests : since !== undefined && performance.now() - since >= when.ms;
	});
	// What was on its way arrives after the kill.
	await setTimeout(50);
	const between = await held(service);
	const exits: number[] = [];
	let stderr = "";
	while (exits.length < 2 && exits.at(-1) !== 0) {
		const again = await program(argv, env);
		exits.push(again.exit);
		stderr += again.stderr;
	}
	return { between, after: await held(service), foreign, exit: exits.at(-1), stderr };
}

function asObject(value: unknown): object {
	return typeof value === "object" && value !== null ? value : {};
}

async function expectWhole(flavour: Flavour, when: Parameters<typeof killed>[1]): Promise<void> {
	const { between, after, foreign, exit, stderr } = await killed(flavour, when);
	// In no moment is a file without a document that had one.
	for (const file of ["changed", "moved", "tagged", "same"]) {
		expect(between.filter(({ name }) => name.includes(file)).length, file).toBeGreaterThan(0);
	}
	expect([exit, stderr]).toEqual([0, stderr]);
	const metadata = { by_hand: "kept" };
	const ours = [
		{ name: "hr/changed.txt", metadata, content: "quite another text" },
		{ name: "hr/new.txt", metadata: {}, content: "text of new" },
		{ name: "hr/same.txt", metadata, content: "text of same" },
		{ name: "hr/tagged.txt", metadata: { author: "Bob", by_hand: "kept" }, content: "text of tagged" },
		{ name: "it/moved.txt", metadata, content: "text of moved" },
	];
	expect(after).toEqual([...foreign, ...ours].toSorted((one, other) => (one.name < other.name ? -1 : 1)));
}

const CASES = FLAVOURS.flatMap((flavour) => STEPS[flavour].map((requests) => [flavour, requests] as const));

it.each(CASES)(
	"a sync at %s that is killed after %i requests is finished by the same command, and no file loses its document",
	(flavour, requests) => expectWhole(flavour, { requests }),
);

it.each(MOMENTS)("a sync that is killed after %i ms is finished by the same command", (ms) =>
	expectWhole("ragflow-0.27", { ms }),
);
