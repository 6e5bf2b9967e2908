import process from "node:process";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/**
 * Milliseconds. Node drops its own compiled code for what it loads after a flag has changed, which costs a short command a
 * quarter of its time. A command that lives longer has loaded what it needs by then.
 */
const SHORT_COMMAND_MS = 250;

/** Bytes of both halves of the young generation. With half of it an uncapped run takes a fifth more of the processor. */
const YOUNG_BYTES = 16 * 1024 * 1024;

/** Milliseconds between two looks at the young generation, which needs longer to double. A look takes 20 microseconds. */
const LOOK_MS = 100;

/**
 * Rows live briefly. A collection whenever the heap has grown by a fifth keeps the memory of a million rows near that of ten
 * thousand. The young generation is kept from its last doubling, which takes 17 MB and saves no time. V8 reads the flag of its
 * size only when it starts, but that of its growth each time.
 */
export function boundHeap(): void {
	setTimeout(() => {
		setFlagsFromString("--heap-growing-percent=20");
		let isHeld = false;
		setInterval(() => {
			const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
			const isLarge = (young?.space_size ?? 0) >= YOUNG_BYTES;
			// V8 makes it small again while little is allocated, as in an outage.
			if (isLarge || isHeld) setFlagsFromString(`--semi-space-growth-factor=${isLarge ? 1 : 2}`);
			isHeld = isLarge;
		}, LOOK_MS).unref();
	}, SHORT_COMMAND_MS).unref();
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
	for (const flag of ["--heap-growing-percent=0", "--semi-space-growth-factor=2"]) setFlagsFromString(flag);
	// The flag of the parser sets the two others.
	if (isNode20)
		for (const flag of ["--no-liftoff-only", "--wasm-tier-up", "--wasm-dynamic-tiering"]) setFlagsFromString(flag);
}
