// The machine, as a reader of figures must know it.
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { availableParallelism, cpus, totalmem, type } from "node:os";
import process from "node:process";

/** `2026-11-23, version 0.1.0 (625c767), Node 20.20.2, Linux, 2 cores (model), 24 GB` */
export async function machineText() {
	const { version } = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
	const model = cpus()[0]?.model.trim() ?? "unknown";
	const day = new Date().toISOString().slice(0, 10);
	const commit = commitText();
	return [
		day,
		`version ${version}${commit === undefined ? "" : ` (${commit})`}`,
		`Node ${process.versions.node}`,
		type(),
		`${availableParallelism()} cores (${model})`,
		`${Math.round(totalmem() / 1e9)} GB of memory`,
	].join(", ");
}

/** undefined outside a checkout */
function commitText() {
	try {
		const stdio = ["ignore", "pipe", "ignore"];
		return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8", stdio }).trim();
	} catch {
		return undefined;
	}
}
