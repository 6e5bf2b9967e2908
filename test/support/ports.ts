import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import process from "node:process";

/** Only Linux tells which process listens where in files. */
export const tellsPorts = process.platform === "linux";

/** The state of a socket that listens, in the tables of the kernel. */
const LISTEN = "0A";

/** Ports on which that process takes connections now. */
export function portsOf(pid: number): number[] {
	const own = new Set(
		readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
			try {
				return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
			} catch {
				// Closed since the folder was read.
				return [];
			}
		}),
	);
	return ["tcp", "tcp6"].flatMap((table) =>
		readFileSync(`/proc/${pid}/net/${table}`, "utf8")
			.split("\n")
			.slice(1)
			.flatMap((line) => {
				const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
				return state === LISTEN && own.has(inode) ? [Number.parseInt(local.split(":")[1] ?? "", 16)] : [];
			}),
	);
}
