// What a long run costs, whether a row costs more at its end than at its beginning, and how soon a killed one goes on.
import { round } from "../world.mjs";
import { growthPerRow } from "../watch.mjs";

const UNCAPPED = ["--rate", "unlimited"];

/** The most rows that a kill may leave in doubt: those in flight (docs/reliability.md). They are sent again. */
export const IN_FLIGHT = 64;

/** What the rows of one run cost. @param run what `watched` gives */
export function* costs(name, { seconds, cpuSeconds, samples }, rows) {
	yield { name: `${name}: seconds`, figure: round(seconds, 1) };
	yield { name: `${name}: CPU microseconds a row`, figure: round((cpuSeconds * 1e6) / rows, 0) };
	const bytes = growthPerRow(samples, "bytes", { from: 1, to: rows });
	const shown = bytes === undefined ? {} : { figure: round(bytes, 0) };
	yield { name: `${name}: bytes of records a row, while it runs`, ...shown };
	const tenth = (number) =>
		growthPerRow(samples, "cpuSeconds", { from: (rows * (number - 1)) / 10, to: (rows * number) / 10 });
	const [early, late] = [tenth(2), tenth(10)];
	yield {
		name: `${name}: CPU of a row in the last tenth against the second`,
		...(early > 0 && late > 0 ? { figure: round(late / early) } : { why: "the system has no /proc" }),
		goal: "<= 1.1",
	};
}

/** A run that is killed when the server has taken 99 % of its rows. */
export async function* resume(world, { isShort }) {
	const rows = isShort ? 50_000 : 1_000_000;
	const server = await world.server(rows);
	const flags = [...UNCAPPED, "--no-undo"];
	const whole = await world.tag(server, rows, flags);
	await server.forget();
	const run = await world.startTag(server, rows, flags, { state: "killed" });
	await until(server, ({ updates }) => updates >= rows * 0.99);
	run.kill();
	await run.ended;
	// It clears the count of requests.
	await server.arrivals();
	const started = performance.now();
	// It has the flags with which the run began.
	const resumed = world.startRagtag(server, ["runs", "resume", "-q"], { state: "killed" });
	await Promise.race([until(server, ({ requests }) => requests > 0), resumed.ended]);
	const share = (performance.now() - started) / 1000 / whole.seconds;
	await resumed.ended;
	const { never, oftener } = await server.counts();
	await server.close();
	const name = `resume of ${rows.toLocaleString("en")} rows, killed at 99 %`;
	yield { name: `${name}: time to its first request against the whole run`, figure: round(share, 3), goal: "<= 0.15" };
	yield { name: `${name}: rows that were not written`, figure: never, goal: "<= 0" };
	yield { name: `${name}: rows that were written twice`, figure: oftener, goal: `<= ${IN_FLIGHT}` };
}

async function until(server, isMet) {
	while (!isMet(await server.requests())) await new Promise((resolve) => setTimeout(resolve, 5));
}
