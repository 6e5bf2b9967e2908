import process from "node:process";
import { setFlagsFromString } from "node:v8";

/**
 * Milliseconds. Node drops its own compiled code for what it loads after a flag has changed, which costs a short command a
 * quarter of its time. A command that lives longer has loaded what it needs by then.
 */
const SHORT_COMMAND_MS = 250;

/**
 * Rows live briefly. A collection whenever the heap has grown by a fifth keeps the memory of a million rows near that of ten
 * thousand. A flag for the young generation would do nothing: V8 reads it when it starts.
 */
export function boundHeap(): void {
	setTimeout(() => setFlagsFromString("--heap-growing-percent=20"), SHORT_COMMAND_MS).unref();
}

const isNode20 = process.versions.node.startsWith("20.");

/**
 * Node 20 compiles the HTTP parser twice, and a process of one request waits for the second time until it ends.
 * Later lines do not wait, and the flag makes them slower.
 */
export function compileParserOnce(): void {
	if (isNode20) setFlagsFromString("--liftoff-only");
}

/** Takes back the flags above: code that is compiled with other flags than those of the start can't be used there. */
export function takeFlagsBack(): void {
	setFlagsFromString("--heap-growing-percent=0");
	// The flag of the parser sets the two others.
	if (isNode20)
		for (const flag of ["--no-liftoff-only", "--wasm-tier-up", "--wasm-dynamic-tiering"]) setFlagsFromString(flag);
}
