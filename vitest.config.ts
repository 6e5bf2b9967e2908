import { defineConfig } from "vitest/config";
import { vitestAssets } from "./scripts/page-assets.mjs";

export default defineConfig({
	plugins: [vitestAssets()],
	test: {
		// Milliseconds: a bound for what hangs, not a measure. Machines that run this are shared, and slow at times: with ten
		// others at work, tests of a few seconds took 30 and 60.
		testTimeout: 180_000,
		hookTimeout: 180_000,
		// Most tests wait for a socket or a process half of their time: four at once keep two cores busy, and two did not.
		maxWorkers: 4,
		// The program keeps no state in its modules. To load it for each file took a third of the processor time of all tests.
		isolate: false,
		include: ["test/**/*.test.ts"],
		setupFiles: ["test/support/setup.ts"],
		// A test that asserts nothing can't fail.
		expect: { requireAssertions: true },
		coverage: {
			include: ["src/**/*.ts"],
			reporter: ["text-summary"],
			// What only a child process runs is not counted, so the true figures are higher.
			// A failed test must not hide the figures.
			reportOnFailure: true,
		},
	},
});
