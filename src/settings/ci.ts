/** The CI system of an environment: its documentation names these variables for programs that want to know. */
export function ciOf(env: Readonly<Record<string, string | undefined>>) {
	const text = (name: string): string | undefined => env[name] || undefined;
	const isGitHub = env["GITHUB_ACTIONS"] === "true";
	return {
		/** undefined outside GitHub Actions and GitLab CI */
		system: isGitHub ? "github" : env["GITLAB_CI"] === "true" ? "gitlab" : undefined,
		/** the folder of the repository, absolute; undefined where none is named */
		workspace: isGitHub ? text("GITHUB_WORKSPACE") : text("CI_PROJECT_DIR"),
		/** the file that GitHub shows as the summary of the step */
		stepSummary: text("GITHUB_STEP_SUMMARY"),
	} as const;
}
