// Loaded before the program: writes down the calls from the command to undici, of the last update.
import { writeFileSync } from "node:fs";
import { Session } from "node:inspector";
import { createRequire } from "node:module";
import process from "node:process";

/** Calls of asynchronous functions that V8 remembers as the origin of another. */
const DEPTH = 100;

/** All undici connections are made of this class. */
const Base = createRequire(import.meta.url)("undici/lib/dispatcher/dispatcher-base.js");
const { dispatch } = Base.prototype;

const inspector = new Session();
let way = [];
inspector.connect();
inspector.on("Runtime.consoleAPICalled", ({ params }) => {
	way = [];
	for (let stack = params.stackTrace; stack !== undefined; stack = stack.parent) {
		for (const { url, functionName } of stack.callFrames) way.push({ url, name: functionName });
	}
});
inspector.post("Runtime.enable");
inspector.post("Debugger.enable");
inspector.post("Debugger.setAsyncCallStackDepth", { maxDepth: DEPTH });

let isInside = false;
Base.prototype.dispatch = function (options, handler) {
	// A pool dispatches to a client of this class again.
	if (isInside) return dispatch.call(this, options, handler);
	isInside = true;
	try {
		if (options.method === "PUT") console.trace();
		return dispatch.call(this, options, handler);
	} finally {
		isInside = false;
	}
};

process.on("exit", () => writeFileSync(process.env.HOUSE_WAY, JSON.stringify(way)));
