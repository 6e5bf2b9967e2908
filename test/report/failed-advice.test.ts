import { expect, it } from "vitest";
import { failedAdvice } from "../../src/report/failed-advice.ts";

const RETRY = "ragtag runs retry RUN";

it.each([
	[["EXISTS"], /--on-existing skip/, false],
	[["FILE_EXISTS"], /^These files are there already: --force/, false],
	[["EXISTS", "NOT_FOUND"], /failed\.csv .* with --on-existing skip.*would fail again/, false],
	[["NOT_FOUND", "STALE_FILE", "METADATA_REFUSED"], /would fail again/, false],
	[["NO_FOLDERS", "RENAMED"], /--names flat/, false],
	[["HTTP_422"], /Correct failed\.csv/, false],
	[["HTTP_404", "HTTP_400"], /would fail again/, false],
	[["HTTP_413"], /Raise the limit/, true],
	[["PROXY_REFUSED"], /^Ask who runs the proxy/, true],
	[["HTTP_422", "TIMEOUT"], /Correct failed\.csv/, true],
	[["EXISTS", "UNKNOWN_OUTCOME"], /--on-existing skip/, true],
	[["HTTP_500"], /Correct failed\.csv/, true],
	[["FORBIDDEN"], /Correct failed\.csv/, true],
	[[], /Correct failed\.csv/, true],
])("no one is sent to try rows again that would fail again, and others are: %j", (codes, text, mayRetry) => {
	const advice = failedAdvice(codes, "failed.csv", RETRY);
	expect(advice).toMatch(text);
	expect(advice.includes(RETRY)).toBe(mayRetry);
});
