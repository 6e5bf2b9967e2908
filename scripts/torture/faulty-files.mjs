// Loaded into the program before it starts: the n-th write or sync of one file fails, or is the last thing it does.
import syncFiles from "node:fs";
import files from "node:fs/promises";
import { basename } from "node:path";
import { syncBuiltinESMExports } from "node:module";
import { constants } from "node:os";

const { file, call, nth, how } = JSON.parse(process.env.FAULTY_FILES ?? "{}");
let count = 0;

const die = () => {
	process.kill(process.pid, "SIGKILL");
	return new Promise(() => undefined);
};

/** What becomes of that one call. */
function spoiled(go, bytes) {
	switch (how) {
		case "kill":
			return die();
		case "kill-after": {
			const done = go();
			return done instanceof Promise ? done.then(die) : die();
		}
		case "torn":
			go(bytes?.subarray(0, Math.ceil(bytes.length / 2)));
			return die();
		default:
			throw Object.assign(new Error(`${how}: injected, ${call}`), { code: how, errno: -constants.errno[how] });
	}
}

/** The descriptors of that file. */
const descriptors = new Set();

const open = files.open;
files.open = async (path, ...more) => {
	const handle = await open(path, ...more);
	if (basename(String(path)) !== file) return handle;
	descriptors.add(handle.fd);
	const original = handle[call].bind(handle);
	handle[call] = async (...given) => {
		count += 1;
		if (count !== nth) return original(...given);
		return spoiled((bytes = given[0]) => original(bytes, ...given.slice(1)), given[0]);
	};
	return handle;
};

const { writeSync } = syncFiles;
syncFiles.writeSync = (descriptor, bytes, ...more) => {
	if (call !== "write" || !descriptors.has(descriptor)) return writeSync(descriptor, bytes, ...more);
	count += 1;
	if (count !== nth) return writeSync(descriptor, bytes, ...more);
	return spoiled((given = bytes) => writeSync(descriptor, given, ...more), bytes);
};
syncBuiltinESMExports();
