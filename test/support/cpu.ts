import process from "node:process";

/** Milliseconds of the processor that this process takes for some work: on a busy machine the clock counts what others do. */
export async function processorTime(work: () => unknown): Promise<number> {
	const before = process.cpuUsage();
	await work();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1000;
}
