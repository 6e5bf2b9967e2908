import { describe, expect, it } from "vitest";
import {
	readTakenChange,
	readWantedChange,
	takenChangeText,
	wantedChangeText,
} from "../../../src/run/recorded/adjust-file.ts";

type WantedChange = Parameters<typeof wantedChangeText>[0];

describe("the file of runs adjust", () => {
	it.each<WantedChange>([
		{ id: "a", rate: 20 },
		{ id: "a", rate: "unlimited" },
		{ id: "a", paused: true },
		{ id: "a", paused: false, rate: [{ minute: 480, rate: 20 }] },
	])("says %j as it was asked for", (change) => {
		expect(readWantedChange(wantedChangeText(change))).toMatchObject(change);
	});

	it.each([
		["", "an empty file"],
		["{", "half a file"],
		["[]", "an array"],
		["20", "a bare number"],
		['{"id":"a","rate":"20"}', "no schema"],
		['{"schema":2,"id":"a","rate":"20"}', "the schema of another release"],
		['{"schema":1,"rate":"20"}', "no id"],
		['{"schema":1,"id":7,"rate":"20"}', "an id that is no text"],
		['{"schema":1,"id":"a"}', "no change"],
		['{"schema":1,"id":"a","rate":20}', "a rate that is no text"],
		['{"schema":1,"id":"a","rate":"0"}', "a rate of zero"],
		['{"schema":1,"id":"a","rate":"1e9"}', "a rate above the highest"],
		['{"schema":1,"id":"a","rate":"fast","paused":true}', "a wrong rate beside a right pause"],
		['{"schema":1,"id":"a","paused":"yes"}', "a pause that is no boolean"],
		['{"schema":1,"id":"a","paused":true,"command":"rm"}', "a member that nobody knows"],
	])("%j changes nothing: %s", (text) => {
		expect(readWantedChange(text)).toBeUndefined();
	});

	it("says in its answer what holds now", () => {
		const taken = { id: "a", before: 100, rate: [{ minute: 480, rate: 20 }], paused: true };
		expect(readTakenChange(takenChangeText(taken))).toMatchObject(taken);
		expect(readTakenChange('{"schema":1,"id":"a","rate":"20","paused":true}')).toBeUndefined();
	});
});
