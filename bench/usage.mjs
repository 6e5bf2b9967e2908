// Preloaded into a measured process: writes its CPU seconds and peak memory to the file BENCH_USAGE when it ends.
import { writeFileSync } from "node:fs";
import process from "node:process";

process.on("exit", () => {
	const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
	const usage = { cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakMegabytes: maxRSS / 1024 };
	writeFileSync(process.env.BENCH_USAGE, JSON.stringify(usage));
});
