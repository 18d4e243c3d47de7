// Loads the modules named on the command line in a fresh process that has loaded n8n-workflow, as n8n has; prints ms.
require('node:module').createRequire(`${process.env.NODE_PATH}/here.js`)('n8n-workflow');
require('node:crypto');
const cpuBefore = process.cpuUsage();
const start = process.hrtime.bigint();
const names = process.argv.slice(2).flatMap((file) => Object.keys(require(file)));
const wallMs = Number(process.hrtime.bigint() - start) / 1e6;
const { user, system } = process.cpuUsage(cpuBefore);
console.log(JSON.stringify({ wallMs, cpuMs: (user + system) / 1000, names }));
