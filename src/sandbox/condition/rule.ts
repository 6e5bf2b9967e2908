/** What sets the filters by metadata of releases apart: `meta_filter` in common/metadata_utils.py. */
export type ConditionRule = {
	/** `contains`: whether the stored text holds the wanted one, or, by mistake, the wanted one the stored (v0.23). */
	readonly contains: "wanted-in-stored" | "stored-in-wanted";
	/** Whether a wanted date (YYYY-MM-DD) is compared with stored dates alone (from v0.24). */
	readonly dates: boolean;
	/**
	 * How text becomes a number where it is compared. `kept`: the stored one first, then the wanted one, which stays so for
	 * the values that follow (to v0.26). `both`: both or neither (v0.27). `each`: each by itself.
	 */
	readonly numbers: "kept" | "both" | "each";
	/** Whether the items of a wanted list are compared without case, too (from v0.26). */
	readonly listsWithoutCase: boolean;
	/** Whether `>=`, `<=` and `!=` are known (from v0.24). */
	readonly signs: boolean;
	/**
	 * How conditions are joined. `by-key`: in the order of the keys of the dataset, those that no document has left out,
	 * and none once nothing is left, even for "or" (v0.23). `forgetful`: a first condition that nothing meets is forgotten
	 * (v0.24 and v0.25). `plain`: as it should be.
	 */
	readonly joined: "by-key" | "forgetful" | "plain";
	/** What an object without conditions finds (nothing from v0.26). */
	readonly withoutConditions: "all" | "nothing";
};

/** The documentation says nothing of filters: so the undocumented parameter is taken as the last releases mean it. */
export const documentedRule: ConditionRule = {
	contains: "wanted-in-stored",
	dates: true,
	numbers: "each",
	listsWithoutCase: true,
	signs: true,
	joined: "plain",
	withoutConditions: "all",
};
