import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PlannedChange } from "../../../src/plan/plan-file/lines.ts";
import type { SyncEntry } from "../../../src/plan/sync/state.ts";
import { readState, stateText } from "../../../src/plan/sync/state.ts";
import { mostRemovals, planSync, type WantedFile } from "../../../src/plan/sync/steps.ts";

type SyncInput = Parameters<typeof planSync>[0];

const NOTHING = new Map<string, never>();

/** A file `path` with a content; its time is that of its state unless given. */
function wanted(path: string, content: string, mtime = 1): WantedFile {
	return { file: { path, size: 1, mtime, ino: 1, sha256: content }, name: path, metadata: NOTHING };
}

function entry(path: string, content: string): SyncEntry {
	return { path, size: 1, mtime: 1, ino: 1, sha256: content, documentId: `id of ${path}`, name: path };
}

type Case = { readonly files: readonly WantedFile[]; readonly state: readonly SyncEntry[] } & Partial<SyncInput>;

function changesOf({ files, state, ...more }: Case): readonly PlannedChange[] {
	const known = state.map(({ documentId, name }) => [documentId, { id: documentId, name, was: "" }] as const);
	const paths = new Set(files.map(({ file }) => file.path));
	return planSync({
		datasetId: "set",
		files,
		entries: new Map(state.map((each) => [each.path, each])),
		documents: new Map(known),
		retag: () => undefined,
		absent: new Map(state.filter(({ path }) => !paths.has(path)).map(({ path }) => [path, "gone"])),
		canRename: true,
		isWhole: true,
		removes: true,
		removesLeftOut: false,
		isSameName: (one, other) => one === other,
		...more,
	}).changes;
}

/** The steps as `action name`, in the order in which they are sent. */
function steps(input: Case): string[] {
	return changesOf(input).map((change) => `${change.action} ${change.name}`);
}

describe("the steps of a sync", () => {
	it.each<[string, Case, string[]]>([
		["a new file", { files: [wanted("a", "1")], state: [] }, ["upload a"]],
		["the same file", { files: [wanted("a", "1")], state: [entry("a", "1")] }, []],
		["a touched file", { files: [wanted("a", "1", 2)], state: [entry("a", "1")] }, ["keep a"]],
		["another content", { files: [wanted("a", "2")], state: [entry("a", "1")] }, ["replace a"]],
		["a moved file", { files: [wanted("b", "1")], state: [entry("a", "1")] }, ["rename b"]],
		[
			"a move to another ending",
			{ files: [wanted("a.md", "1")], state: [entry("a.txt", "1")] },
			["upload a.md", "remove a.txt"],
		],
		[
			"two moves of one content",
			{ files: [wanted("c", "1"), wanted("d", "1")], state: [entry("a", "1"), entry("b", "1")] },
			["upload c", "upload d", "remove a", "remove b"],
		],
		[
			"a move where nothing is renamed",
			{ files: [wanted("b", "1")], state: [entry("a", "1")], canRename: false },
			["upload b", "remove a"],
		],
		["a deleted file", { files: [], state: [entry("a", "1")] }, ["remove a"]],
		["a deleted file without --remove", { files: [], state: [entry("a", "1")], removes: false }, []],
		["a file that is left out", { files: [], state: [entry("a", "1")], absent: new Map([["a", "left out"]]) }, []],
		[
			"one with --delete-excluded",
			{ files: [], state: [entry("a", "1")], absent: new Map([["a", "left out"]]), removesLeftOut: true },
			["remove a"],
		],
		["a gone document", { files: [wanted("a", "1")], state: [entry("a", "1")], documents: new Map() }, ["upload a"]],
		[
			"the same where nothing is renamed",
			{
				files: [wanted("a", "1")],
				state: [entry("a", "1")],
				documents: new Map([["id of a", { id: "id of a", name: "z", was: "" }]]),
				canRename: false,
			},
			[],
		],
		[
			"a document that was renamed by hand",
			{
				files: [wanted("a", "1")],
				state: [entry("a", "1")],
				documents: new Map([["id of a", { id: "id of a", name: "z", was: "" }]]),
			},
			["rename a"],
		],
	])("for %s", (_, input, expected) => expect(steps(input)).toEqual(expected));

	it("never name a document that the state does not know, and each known one in one write of its content at most", () => {
		const paths = fc.constantFrom("a", "b", "c", "d", "e");
		const content = fc.constantFrom("1", "2", "3");
		const set = fc.uniqueArray(fc.tuple(paths, content), { selector: ([path]) => path });
		fc.assert(
			fc.property(set, set, fc.boolean(), (files, state, removes) => {
				const ids = new Set(state.map(([path]) => `id of ${path}`));
				const changes = changesOf({
					files: files.toSorted(byPath).map(([path, content]) => wanted(path, content)),
					state: state.map(([path, content]) => entry(path, content)),
					removes,
				});
				const named = changes.map(({ documentId }) => documentId).filter((id) => id !== "");
				expect(named.every((id) => ids.has(id))).toBe(true);
				expect(new Set(named).size).toBe(named.length);
				expect(changes.filter(({ action }) => action === "remove").length > 0 && !removes).toBe(false);
				// What the steps make of the dataset is what the folder holds.
				if (removes) expect(after(changes, state)).toEqual(new Map(files.toSorted(byPath)));
			}),
		);
	});
});

type Pair = readonly [path: string, content: string];

function byPath([one]: Pair, [other]: Pair): number {
	return one < other ? -1 : 1;
}

/** What the dataset holds after the steps, by name. */
function after(changes: readonly PlannedChange[], state: readonly Pair[]): Map<string, string> {
	const held = new Map(state.map(([path, content]) => [`id of ${path}`, [path, content]]));
	for (const change of changes) {
		if (change.action === "remove") held.delete(change.documentId);
		if (!("file" in change)) continue;
		held.set(change.documentId === "" ? `new ${change.name}` : change.documentId, [change.name, change.file.sha256]);
	}
	const found = [...held.values()].map(([path = "", content = ""]): Pair => [path, content]);
	return new Map(found.toSorted(byPath));
}

it("a state that was cut or edited is none: documents would be stored twice, or foreign ones removed", () => {
	const state = {
		baseUrl: "http://x",
		datasetId: "set",
		root: "/r",
		device: 5,
		isTagged: true,
		entries: new Map([["ä/a\n.txt", { ...entry("ä/a\n.txt", "1") }]]),
	};
	const text = stateText(state);
	expect(readState(text)).toEqual(state);
	for (let at = 0; at < text.length - 1; at++) expect(readState(text.slice(0, at))).toBeUndefined();
	expect(readState(text.replace('"device":5', '"device":6'))).toBeUndefined();
});

it.each([
	[0, undefined, 5],
	[49, undefined, 5],
	[1000, undefined, 100],
	[1000, { unit: "rows", value: 3 } as const, 3],
	[1000, { unit: "percent", value: 50 } as const, 500],
])("of %i documents, %j allows %i removals", (documents, limit, most) => {
	expect(mostRemovals(documents, limit)).toBe(most);
});
