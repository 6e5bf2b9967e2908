import { documented } from "../../src/rest/flavours.ts";
import type { Api, Document } from "../../src/rest/types.ts";

/** A service of which a test overrides what it needs; every call it gets is written down, and others fail the test. */
export function fakeApi(calls: string[], answers: Partial<Api>): Api {
	const unexpected = (name: string) => (): Promise<never> => Promise.reject(new Error(`${name} was not expected`));
	const api: Api = {
		dialect: answers.dialect ?? { flavour: documented, form: "json" },
		as: answers.as ?? ((dialect) => fakeApi(calls, { ...answers, dialect })),
		probeList: answers.probeList ?? (async () => (await api.listDatasets({ page: 1, pageSize: 1 }), "unknown")),
		probeUpdate: answers.probeUpdate ?? unexpected("probeUpdate"),
		probeRight: answers.probeRight ?? unexpected("probeRight"),
		listDatasets: answers.listDatasets ?? unexpected("listDatasets"),
		createDataset: answers.createDataset ?? unexpected("createDataset"),
		listDocuments: answers.listDocuments ?? unexpected("listDocuments"),
		updateMetadata: answers.updateMetadata ?? unexpected("updateMetadata"),
		uploadDocument: answers.uploadDocument ?? unexpected("uploadDocument"),
		downloadDocument: answers.downloadDocument ?? unexpected("downloadDocument"),
		changeParsing: answers.changeParsing ?? unexpected("changeParsing"),
		renameDocument: answers.renameDocument ?? unexpected("renameDocument"),
		parseDocuments: answers.parseDocuments ?? unexpected("parseDocuments"),
		removeDocument: answers.removeDocument ?? unexpected("removeDocument"),
		removeTogether: answers.removeTogether ?? unexpected("removeTogether"),
		close: () => Promise.resolve(),
	};
	return {
		...api,
		listDocuments: (dataset, query) => {
			calls.push(
				`list ${dataset} page ${query.page}${query.id === undefined ? "" : ` id ${query.id}`}${query.name === undefined ? "" : ` name ${query.name}`}`,
			);
			return api.listDocuments(dataset, query);
		},
		updateMetadata: (dataset, document, metadata) => {
			calls.push(`update ${dataset} ${document} ${JSON.stringify([...metadata])}`);
			return api.updateMetadata(dataset, document, metadata);
		},
		uploadDocument: (dataset, file) => {
			calls.push(`upload ${dataset} ${file.name} ${file.size}`);
			return api.uploadDocument(dataset, file);
		},
		removeDocument: (document) => {
			calls.push(`remove ${document.datasetId} ${document.id}`);
			return api.removeDocument(document);
		},
	};
}

export function documentOf(id: string, metadata?: Document["metadata"]): Document {
	return {
		id,
		datasetId: "set",
		isDatasetNamed: true,
		name: `${id}.txt`,
		size: undefined,
		createTime: undefined,
		metadata,
	};
}

/** Sends a request as it is: no pace, no second try. */
export function direct<Answer>(call: () => Promise<Answer>): Promise<Answer> {
	return call();
}
