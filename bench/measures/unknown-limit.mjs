// How much of a limit that the program does not know it uses: a proxy refuses what is too fast, and names no time to wait.
import { round } from "../world.mjs";

const LIMIT = 60;

/** Flags of the three ways to run. The first has the default cap of 100 requests a second. */
export const WAYS = {
	"default rate": [],
	"--rate unlimited": ["--rate", "unlimited"],
	"--rate auto": ["--rate", "auto"],
};

/** Milliseconds of one answer; a refusal comes at once. */
const LATENCY = 30;

/** Milliseconds over which a limit counts as used after it has changed. */
const WINDOW = 2_000;

/** Shares of answers that fail by chance: a slower rate does not make them fewer. The share of the cap to use at each. */
const CHANCES = [{ failing: 0.01, goal: ">= 0.9" }, { failing: 0.05, goal: ">= 0.9" }, { failing: 0.25 }];

const CAP = 100;

/** The share of a limit that was used from the first update to the last that passed, and the share that was refused. */
export function useOf(updates, limit) {
	const passed = updates.filter(([, status]) => status === 200);
	const [from = 0, to = 0] = [updates[0]?.[0], passed.at(-1)?.[0]];
	return {
		share: (passed.length * 1000) / (to - from) / limit,
		refused: (updates.length - passed.length) / updates.length,
	};
}

/**
 * Seconds from a time until 0.85 of a limit are used for two seconds, with at most a tenth refused; undefined for never.
 * Without the second condition a limit that falls would be used at once, by requests of which most are refused.
 */
export function secondsUntilUsed(updates, from, limit) {
	const later = updates.filter(([at]) => at >= from);
	const last = later.at(-1)?.[0] ?? from;
	for (let start = from; start + WINDOW <= last; start += 100) {
		const within = later.filter(([at]) => at >= start && at < start + WINDOW);
		const passed = within.filter(([, status]) => status === 200).length;
		if (passed * 1000 >= 0.85 * limit * WINDOW && passed >= 0.9 * within.length) return (start - from) / 1000;
	}
	return undefined;
}

export async function* unknownLimit(world, { isShort }) {
	yield* steady(world, isShort ? 400 : 1_500);
	yield* changing(world, isShort ? 10 : 20);
	yield* byChance(world, isShort ? 1_000 : 1_500);
}

async function* steady(world, rows) {
	for (const status of [429, 503]) {
		for (const [way, flags] of Object.entries(WAYS)) {
			const { updates, failed } = await tagged(world, { rows, flags, gate: { rate: LIMIT, status } });
			const { share, refused } = useOf(updates, LIMIT);
			const name = `limit of ${LIMIT}/s by ${status}, ${way}`;
			yield { name: `${name}: share of the limit`, figure: round(share, 3), goal: ">= 0.9" };
			yield { name: `${name}: share refused`, figure: round(refused, 3), goal: "<= 0.04" };
			yield { name: `${name}: rows failed`, figure: failed, goal: "<= 0" };
		}
	}
}

/** The limit falls to a third, and rises to five times that. @param seconds of each part */
async function* changing(world, seconds) {
	const [fallen, risen] = [20, 100];
	const gate = {
		rate: LIMIT,
		changes: [
			{ after: seconds, rate: fallen },
			{ after: 2 * seconds, rate: risen },
		],
	};
	const rows = seconds * (LIMIT + fallen + risen);
	for (const [status, way] of [
		[429, "default rate"],
		[503, "--rate unlimited"],
	]) {
		const { updates, failed } = await tagged(world, { rows, flags: WAYS[way], gate: { ...gate, status } });
		const first = updates[0][0];
		for (const { after, rate } of gate.changes) {
			const [from, to] = [
				first + after * 1000,
				rate === fallen ? first + 2 * seconds * 1000 : Number.POSITIVE_INFINITY,
			];
			const part = updates.filter(([at]) => at < to);
			const name = `the limit becomes ${rate}/s, by ${status}, ${way}: seconds until 0.85 of it are used`;
			yield { name, figure: secondsUntilUsed(part, from, rate) ?? Number.POSITIVE_INFINITY, goal: "<= 10" };
		}
		const { refused } = useOf(updates, LIMIT);
		yield { name: `the limit changes, by ${status}, ${way}: share refused`, figure: round(refused, 3) };
		yield { name: `the limit changes, by ${status}, ${way}: rows failed`, figure: failed, goal: "<= 0" };
	}
}

/** Faults are no limit: a run that slows down for them gains nothing. */
async function* byChance(world, rows) {
	for (const { failing, goal } of CHANCES) {
		const { updates, failed } = await tagged(world, { rows, flags: [], gate: { failing } });
		const seconds = (updates.at(-1)[0] - updates[0][0]) / 1000;
		const name = `${failing * 100} % of the answers fail by chance, half 503 and half 502`;
		yield { name: `${name}: share of the cap of ${CAP}/s`, figure: round(updates.length / seconds / CAP, 3), goal };
		yield { name: `${name}: rows failed`, figure: failed };
	}
}

/** Tags rows. @returns the updates as the server saw them, and how many rows failed */
async function tagged(world, { rows, flags, gate }) {
	const server = await world.server(rows, { latency: LATENCY, gate });
	try {
		const options = { isRead: true, exits: [0, 1] };
		const { output } = await world.tag(server, rows, ["--no-undo", "--json", ...flags], options);
		// The last line is the summary.
		const { failed } = JSON.parse(output.trimEnd().split("\n").at(-1));
		return { updates: await server.updates(), failed };
	} finally {
		await server.close();
	}
}
