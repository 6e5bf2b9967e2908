// CPU and memory of a process that runs, as Linux shows them in /proc.
import { readFile } from "node:fs/promises";

/** A tick of /proc/PID/stat, in seconds: USER_HZ is 100 on all machines that Node runs on (proc(5)). */
const TICK = 0.01;

/** @returns undefined where the process has ended, or where there is no /proc */
export async function usageOf(pid) {
	try {
		const [stat, status] = await Promise.all(
			["stat", "status"].map((name) => readFile(`/proc/${pid}/${name}`, "utf8")),
		);
		const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		const kilobytes = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]);
		// Fields 14 and 15 of proc(5), which counts from 1; the first here is field 3.
		const cpuSeconds = (Number(fields[11]) + Number(fields[12])) * TICK;
		return { cpuSeconds, megabytes: kilobytes("VmRSS") / 1024, peakMegabytes: kilobytes("VmHWM") / 1024 };
	} catch {
		return undefined;
	}
}
