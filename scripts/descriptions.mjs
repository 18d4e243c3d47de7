/**
 * What Stryker leaves alone: the objects that describe fields, options and operations to n8n. Their words are what the editor
 * shows, and no test should repeat them; names that workflows carry are kept by test/unit/package.test.ts.
 */
const TEXT_KEYS = new Set(['action', 'subtitle', 'placeholder', 'hint', 'name', 'description']);
const OPTION_KEYS = new Set(['name', 'value', 'description', 'action']);
const CLASS_TEXTS = new Set(['displayName', 'documentationUrl', 'icon']);

const keyOf = ({ key }) => key?.name ?? key?.value;
const keysOf = (node) => node.properties.map(keyOf);

/** A field, a node or a credential: `{ displayName: 'Text', name: 'text', ... }`. */
const isField = (node) => keysOf(node).includes('displayName');

/** `{ name: 'Poll', value: 'poll', description: '...' }`. */
function isOption(node) {
	const keys = keysOf(node);
	const plain = node.properties.every(({ value }) => value?.type === 'StringLiteral');
	return (
		plain &&
		['name', 'value'].every((key) => keys.includes(key)) &&
		keys.every((key) => OPTION_KEYS.has(key))
	);
}

/** A text of a resource or an operation, which stand in a table. */
function isTableText(path) {
	const { node, parent } = path;
	const texts = ['StringLiteral', 'TemplateLiteral'].includes(node.value?.type);
	if (!texts || !TEXT_KEYS.has(keyOf(node)) || parent?.type !== 'ObjectExpression') return false;
	const keys = keysOf(parent);
	return keys.includes('operations') || keys.includes('work') || keys.includes('action');
}

export function whyIgnored(path) {
	const { node } = path;
	const isText =
		(node.type === 'ObjectExpression' && (isField(node) || isOption(node))) ||
		(node.type === 'ObjectProperty' && isTableText(path)) ||
		(node.type === 'ClassProperty' && CLASS_TEXTS.has(keyOf(node)));
	return isText ? 'describes a field, an option or an operation' : undefined;
}

export const strykerPlugins = [
	{ kind: 'Ignore', name: 'descriptions', value: { shouldIgnore: whyIgnored } },
];
