/**
 * A plugin of StrykerJS that leaves alone what describes fields, options and operations to n8n. Their words are what the editor shows, and
 * no test should repeat them; names that workflows carry are kept by test/unit/package.test.ts.
 */
const TABLE_TEXTS = ['action', 'subtitle', 'placeholder', 'hint', 'name', 'description'];
const OPTION_KEYS = ['name', 'value', 'description', 'action'];
const CLASS_TEXTS = ['displayName', 'documentationUrl', 'icon'];
/** What makes a field from its texts (actions/ui.ts). */
const BUILDERS = /^(text|amount|toggle|select|choice|notice|json|\w*Field|locator|openChoice)$/;

const keyOf = ({ key }) => key?.name ?? key?.value;
const keysOf = ({ properties }) => properties.map(keyOf);

/** A field, a node or a credential `{ displayName: 'Text', ... }`, or an option `{ name: 'Poll', value: 'poll', description: '...' }`. */
function isDescription(node) {
	const keys = keysOf(node);
	const isPlain = node.properties.every(({ value }) => value?.type === 'StringLiteral');
	const isOption = ['name', 'value'].every((key) => keys.includes(key));
	const hasOthers = keys.some((key) => !OPTION_KEYS.includes(key));
	return keys.includes('displayName') || (isPlain && isOption && !hasOthers);
}

/** A text of a resource or an operation, which stand in a table. */
function isTableText({ node, parent }) {
	const isText = ['StringLiteral', 'TemplateLiteral'].includes(node.value?.type);
	if (!isText || !TABLE_TEXTS.includes(keyOf(node)) || parent?.type !== 'ObjectExpression')
		return false;
	return keysOf(parent).some((key) => ['operations', 'work', 'action'].includes(key));
}

/** A text of a field: an argument of what makes it, or a property of its details. */
function isFieldText({ node, parent, parentPath }) {
	const [value, holder] =
		node.type === 'ObjectProperty' ? [node.value, parentPath.parent] : [node, parent];
	const isText = ['StringLiteral', 'TemplateLiteral'].includes(value?.type);
	if (!isText || (value !== node && !TABLE_TEXTS.includes(keyOf(node)))) return false;
	return (
		holder?.type === 'CallExpression' &&
		BUILDERS.test((holder.callee.property ?? holder.callee).name)
	);
}

function shouldIgnore(path) {
	const { node } = path;
	const describes =
		(node.type === 'ObjectExpression' && isDescription(node)) ||
		(node.type === 'ObjectProperty' && isTableText(path)) ||
		isFieldText(path) ||
		(node.type === 'ClassProperty' && CLASS_TEXTS.includes(keyOf(node)));
	return describes ? 'describes a field, an option or an operation' : undefined;
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'descriptions', value: { shouldIgnore } }];
