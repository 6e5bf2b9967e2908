import process from "node:process";
import { refuseDebugger } from "./debugger.ts";

// Without a listener, Node opens a debugger at this signal, and through that any process of this machine reads the key.
process.on("SIGUSR1", () => undefined);

// This file imports nothing that an old Node lacks: all imports of a file are linked before its first line runs.
const OLDEST = { major: 20, minor: 19 };
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) {
	process.stderr.write(
		`ragtag: this is Node ${process.versions.node}, and ragtag needs Node ${OLDEST.major}.${OLDEST.minor} or newer; nothing was sent\n`,
	);
	// Usage, as in src/errors.ts, which is not loaded here.
	process.exitCode = 2;
} else {
	await refuseDebugger();
	await import("./main.ts");
}
