// Loaded into the program before it starts: the n-th write or sync of one file fails, or is the last thing it does.
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
async function spoiled(go, bytes) {
	switch (how) {
		case "kill":
			return die();
		case "kill-after":
			await go();
			return die();
		case "torn":
			await go(bytes?.subarray(0, Math.ceil(bytes.length / 2)));
			return die();
		default:
			throw Object.assign(new Error(`${how}: injected, ${call}`), { code: how, errno: -constants.errno[how] });
	}
}

const open = files.open;
files.open = async (path, ...more) => {
	const handle = await open(path, ...more);
	if (basename(String(path)) !== file) return handle;
	const original = handle[call].bind(handle);
	handle[call] = (...given) => {
		count += 1;
		if (count !== nth) return original(...given);
		return spoiled((bytes = given[0]) => original(bytes, ...given.slice(1)), given[0]);
	};
	return handle;
};
syncBuiltinESMExports();
