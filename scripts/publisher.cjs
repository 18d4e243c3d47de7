/**
 * Who publishes the package: the author's e-mail address and the repository with its page, which stand in package.json and nowhere else. Sources that
 * need the repository's address name a stand-in; the build writes the manifest's address in its place.
 *
 * `node scripts/publisher.cjs` fails while package.json still holds placeholders; the release workflow runs it first.
 */
const { readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const standIn = 'https://github.com/n8n-nodes-media-generation/n8n-nodes-media-generation';

/** The repository's address for a browser, from the manifest's Git address. */
function addressOf({ repository }) {
	return repository.url.replace(/^git\+/, '').replace(/\.git$/, '');
}

/** What is still a placeholder, in words; empty once the package can be published. */
function placeholdersIn(manifest) {
	return [
		manifest.author.email.endsWith('.invalid') && 'author.email',
		addressOf(manifest) === standIn && 'repository.url',
		manifest.homepage.startsWith(standIn) && 'homepage',
	].filter(Boolean);
}

/** Writes the manifest's address over the stand-in in every built file below a folder. */
function fillIn(folder, manifest) {
	const address = addressOf(manifest);
	if (address === standIn) return;
	const files = readdirSync(folder, { recursive: true }).filter((name) =>
		/\.(js|json)$/.test(name),
	);
	for (const file of files.map((name) => join(folder, name))) {
		const text = readFileSync(file, 'utf8');
		if (text.includes(standIn)) writeFileSync(file, text.replaceAll(standIn, address));
	}
}

module.exports = { standIn, addressOf, placeholdersIn, fillIn };

if (require.main === module) {
	const left = placeholdersIn(require('../package.json'));
	if (left.length > 0) {
		console.error(
			`package.json still has a placeholder in ${left.join(' and ')}: fill in who publishes this package (RELEASING.md).`,
		);
		process.exitCode = 1;
	}
}
