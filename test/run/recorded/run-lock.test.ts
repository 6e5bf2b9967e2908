import process from "node:process";
import { expect, it } from "vitest";
import { lockForSending, refuseWhileSending } from "../../../src/run/recorded/run-lock.ts";
import { RunStore } from "../../../src/run/recorded/run-store.ts";
import { processesHere } from "../../../src/run/storage/process-owner.ts";
import { folder } from "../../support/service.ts";

const WHOLE = undefined;

/** @returns takes the locks of a run; its `refuse` only checks them */
async function locker() {
	const processes = processesHere({ pid: process.pid, isRunning: () => true });
	const runs = new RunStore(await folder(), { uid: process.getuid?.() ?? -1, note: () => undefined }, processes);
	const calling =
		<Result>(call: (...args: Parameters<typeof lockForSending>) => Result) =>
		(shard: string | undefined, force = false, sha256 = "abc"): Result => {
			const options = shard === undefined ? {} : { shard };
			const manifest = { sha256, path: `/data/${sha256}.csv` };
			return call({ manifest, options }, { runs, force });
		};
	return Object.assign(calling(lockForSending), { refuse: calling(refuseWhileSending) });
}

it.each([
	["1/8", "2/8"],
	["8/8", "7/8"],
])("shards %s and %s of one manifest run on one machine at the same time", async (one, other) => {
	const lock = await locker();
	await lock.refuse(one);
	const first = await lock(one);
	await lock.refuse(other);
	const held = [first, await lock(other)];
	await expect(lock.refuse(one)).rejects.toMatchObject({ exit: 5 });
	await expect(lock(one)).rejects.toMatchObject({ exit: 5 });
	for (const each of held) await each[Symbol.asyncDispose]();
	await (await lock(WHOLE))[Symbol.asyncDispose]();
});

it.each([
	["1/8", "1/8"],
	["1/8", WHOLE],
	[WHOLE, "1/8"],
	["1/8", "1/4"],
	[WHOLE, WHOLE],
])("what writes the same rows twice is refused: %s, then %s, also with --force", async (one, other) => {
	const lock = await locker();
	const held = await lock(one);
	await expect(lock.refuse(other)).rejects.toMatchObject({ exit: 5 });
	await expect(lock(other)).rejects.toMatchObject({ exit: 5 });
	await expect(lock(other, true)).rejects.toMatchObject({ exit: 5 });
	await held[Symbol.asyncDispose]();
	// Neither the refused one nor the released one has left a lock.
	await (await lock(other))[Symbol.asyncDispose]();
	await (await lock(one))[Symbol.asyncDispose]();
});

it.each([
	[WHOLE, WHOLE],
	["1/2", WHOLE],
	[WHOLE, "1/2"],
])("two manifests are sent at the same time: %s of one, %s of the other", async (one, other) => {
	const lock = await locker();
	const held = await lock(one);
	await lock.refuse(other, false, "def");
	await expect(lock(other, false, "def").then((second) => second[Symbol.asyncDispose]())).resolves.toBeUndefined();
	await held[Symbol.asyncDispose]();
});
