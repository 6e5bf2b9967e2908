/** What is known of the CI system that the program runs in. */
type CiEnvironment = {
	/** undefined outside GitHub Actions and GitLab CI */
	readonly system: "github" | "gitlab" | undefined;
	/** the folder of the repository, absolute; undefined where none is named */
	readonly workspace: string | undefined;
	/** the file that GitHub shows as the summary of the step */
	readonly stepSummary: string | undefined;
};

/** The CI system of an environment: its documentation names these variables for programs that want to know. */
export function ciOf(env: Readonly<Record<string, string | undefined>>): CiEnvironment {
	const text = (name: string): string | undefined => env[name] || undefined;
	const isGitHub = env["GITHUB_ACTIONS"] === "true";
	const system = isGitHub ? "github" : env["GITLAB_CI"] === "true" ? "gitlab" : undefined;
	return {
		system,
		workspace: isGitHub ? text("GITHUB_WORKSPACE") : text("CI_PROJECT_DIR"),
		stepSummary: text("GITHUB_STEP_SUMMARY"),
	};
}
