import { constants } from "node:fs";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { errorCode } from "../../errors.ts";
import { writeWhole } from "../../write-whole.ts";
import { halved, readPoint, type SeriesPoint } from "./point.ts";

/** One line a second, in the folder of a run. */
export const SERIES_FILE = "series.jsonl";

/** Two hours in full resolution, about a megabyte. Beyond it, the resolution of the whole file is halved. */
export const MOST_POINTS = 7200;

const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
const MODE = 0o600;

/**
 * The file of a series, to append to. It is not synced: a loss of power may cost its last seconds, and a line that was cut
 * off is skipped when the file is read.
 */
export class SeriesFile {
	readonly #path: string;
	readonly #most: number;
	#file: FileHandle;
	#points: number;
	#interval: number;

	private constructor(path: string, most: number, file: FileHandle, points: readonly SeriesPoint[]) {
		this.#path = path;
		this.#most = most;
		this.#file = file;
		this.#points = points.length;
		this.#interval = points.length > most / 2 ? intervalOf(points) : 1;
	}

	/** Opens the file of a run, which a resumed run has already. @param most points that it may hold */
	static async open(path: string, most = MOST_POINTS): Promise<SeriesFile> {
		const text = await textOf(path);
		const file = await open(path, FLAGS, MODE);
		// The process before may have been killed within a line.
		if (text !== "" && !text.endsWith("\n")) await file.appendFile("\n");
		return new SeriesFile(path, most, file, pointsOf(text));
	}

	/** The number of seconds that a point covers. */
	get interval(): number {
		return this.#interval;
	}

	async append(point: SeriesPoint): Promise<void> {
		await this.#file.appendFile(`${JSON.stringify(point)}\n`);
		this.#points += 1;
		if (this.#points > this.#most) await this.#halve();
	}

	close(): Promise<void> {
		return this.#file.close();
	}

	async #halve(): Promise<void> {
		const half = halved(pointsOf(await textOf(this.#path)));
		await writeWhole(this.#path, half.map((point) => `${JSON.stringify(point)}\n`).join(""), { isSynced: false });
		await this.#file.close();
		this.#file = await open(this.#path, FLAGS, MODE);
		this.#points = half.length;
		this.#interval *= 2;
	}
}

/** The points of a run, in the order of their times of writing; none where it recorded none. */
export async function readSeries(path: string): Promise<readonly SeriesPoint[]> {
	return pointsOf(await textOf(path));
}

function pointsOf(text: string): SeriesPoint[] {
	return text
		.split("\n")
		.map(readPoint)
		.filter((point) => point !== undefined);
}

/** The resolution of a file that was halved before: a power of two, in seconds. */
function intervalOf(points: readonly SeriesPoint[]): number {
	const longest = points.reduce((most, { s }) => Math.max(most, s), 1);
	return 2 ** Math.floor(Math.log2(longest + 0.1));
}

async function textOf(path: string): Promise<string> {
	try {
		return await readFile(path, { encoding: "utf8", flag: constants.O_RDONLY | constants.O_NOFOLLOW });
	} catch (error) {
		if (errorCode(error) === "ENOENT") return "";
		throw error;
	}
}
