import { Ajv } from "ajv";

/** An object with these members and no others. */
const members = (properties: Readonly<Record<string, object>>, ...required: readonly string[]): object => ({
	type: "object",
	additionalProperties: false,
	properties,
	required,
});

const text = { type: "string" };
const texts = { type: "array", items: text };
const mapOf = (values: object): object => ({ type: "object", additionalProperties: values });

/** GitHub's page "Metadata syntax", as far as a composite action has it. */
const ACTION = members(
	{
		name: text,
		description: text,
		branding: members({ icon: text, color: text }),
		inputs: mapOf(members({ description: text, required: { type: "boolean" }, default: text }, "description")),
		outputs: mapOf(members({ description: text, value: text }, "description", "value")),
		runs: members(
			{
				using: { const: "composite" },
				steps: {
					type: "array",
					items: {
						oneOf: [
							// A composite action has no default shell.
							members(
								{ id: text, if: text, shell: { enum: ["bash", "sh"] }, env: mapOf(text), run: text },
								"shell",
								"run",
							),
							members(
								{ id: text, if: text, uses: { type: "string", pattern: "^[^@]+@[0-9a-f]{40}$" }, with: mapOf(text) },
								"uses",
							),
						],
					},
				},
			},
			"using",
			"steps",
		),
	},
	"name",
	"description",
	"runs",
);

const gitlabRule = members({ if: text, when: { enum: ["on_success", "always", "never", "manual"] } });

/** GitLab's page "CI/CD YAML syntax reference", the keywords that our page uses. */
const GITLAB = {
	type: "object",
	properties: { default: { type: "object" }, stages: texts, variables: mapOf(text), workflow: { type: "object" } },
	additionalProperties: members(
		{
			stage: text,
			image: text,
			needs: texts,
			before_script: texts,
			script: texts,
			rules: { type: "array", items: gitlabRule },
			resource_group: text,
			interruptible: { type: "boolean" },
			environment: members({ name: text, action: { enum: ["start", "prepare", "access", "verify"] } }),
			allow_failure: members({ exit_codes: { type: "array", items: { type: "integer" } } }),
			artifacts: members({
				when: { enum: ["always", "on_success", "on_failure"] },
				access: { enum: ["all", "developer", "maintainer", "none"] },
				expire_in: text,
				paths: texts,
				reports: members({ junit: text, codequality: text }),
			}),
		},
		"script",
		"stage",
		"rules",
	),
};

/** Groups of rules, after Prometheus' page "Alerting rules". */
const ALERTS = members({
	groups: {
		type: "array",
		items: members(
			{
				name: text,
				rules: {
					type: "array",
					items: members(
						{ alert: text, expr: text, for: text, labels: mapOf(text), annotations: mapOf(text) },
						"alert",
						"expr",
					),
				},
			},
			"name",
			"rules",
		),
	},
});

const SCHEMAS = { action: ACTION, gitlab: GITLAB, alerts: ALERTS };

/** What is wrong with a file of these kinds: nothing for a good one. */
export function faultsOf(kind: keyof typeof SCHEMAS, value: unknown): string[] {
	const validate = new Ajv({ allErrors: true }).compile(SCHEMAS[kind]);
	validate(value);
	return (validate.errors ?? []).map(({ instancePath, message, params }) =>
		[instancePath, message, JSON.stringify(params)].join(" "),
	);
}
