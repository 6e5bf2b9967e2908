import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { vitestAssets } from "./scripts/page-assets.mjs";

/** The files that take longest, in seconds 70 to 210. They begin first, so that none of them runs alone at the end. */
const LONGEST = [
	"sync",
	"newer-runs",
	"requests",
	"sync-killed",
	"download",
	"database-away",
	"canary",
	"replace-killed",
	"upgrade",
	"memory",
	"upload-many",
];

class LongestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const isLong = ({ moduleId }: TestSpecification): boolean =>
			LONGEST.some((name) => moduleId.endsWith(`/${name}.slow.test.ts`));
		const sorted = await super.sort(files);
		return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
	}
}

export default defineConfig({
	plugins: [vitestAssets()],
	test: {
		// Milliseconds: a bound for what hangs, not a measure. Machines that run this are shared, and slow at times: with ten
		// others at work, tests of a few seconds took 30 and 60.
		testTimeout: 180_000,
		hookTimeout: 180_000,
		// Most tests wait for a socket or a process half of their time. On two cores the slow tests took 649 s with four workers,
		// and 427 s with eight.
		maxWorkers: 8,
		sequence: { sequencer: LongestFirst },
		// The program keeps no state in its modules. To load it for each file took a third of the processor time of all tests.
		isolate: false,
		include: ["test/**/*.test.ts"],
		setupFiles: ["test/support/setup.ts"],
		// A test that asserts nothing can't fail. A poll waits for another process or a socket, and has the same kind of bound.
		expect: { requireAssertions: true, poll: { timeout: 60_000, interval: 10 } },
		coverage: {
			include: ["src/**/*.ts"],
			reporter: ["text-summary"],
			// What only a child process runs is not counted, so the true figures are higher.
			// A failed test must not hide the figures.
			reportOnFailure: true,
		},
	},
});
