// A reporter of vitest for `.ci/run`: appends a JSON line for each run to the file VITEST_RESULTS, with the number of passed tests
// and the names of what failed. Thousands of lines later, that file still says which tests those were.
import { appendFileSync } from "node:fs";
import process from "node:process";

export default class ResultsReporter {
	onTestRunEnd(modules, unhandled) {
		const failed = unhandled.map(({ message }) => `outside of a test: ${String(message).split("\n", 1)[0]}`);
		let passed = 0;
		for (const module of modules) {
			const at = (name) => `${module.relativeModuleId} > ${name}`;
			// A file that can't be loaded, and a hook that fails, have no failed test.
			if (module.errors().length > 0) failed.push(at("the file itself"));
			for (const suite of module.children.allSuites())
				if (suite.errors().length > 0) failed.push(at(`${suite.fullName}: its hooks`));
			for (const test of module.children.allTests("failed")) failed.push(at(test.fullName));
			passed += [...module.children.allTests("passed")].length;
		}
		appendFileSync(process.env.VITEST_RESULTS, `${JSON.stringify({ passed, failed })}\n`);
	}
}
