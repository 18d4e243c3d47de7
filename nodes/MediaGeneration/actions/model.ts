/** Lists models: what the model pickers offer (docs/service.md, "More routes"). */
import { lists, readList } from './lists';
import { choice, select, type Resource } from './operation';

export const model: Resource = {
	value: 'model',
	name: 'Model',
	fields: [
		select('Model Type', 'modelType', {
			options: [
				choice('Image', 'image', 'Models that generate images'),
				choice('Speech', 'speech', 'Models that speak'),
			],
			default: 'image',
			description: 'What the models generate',
		}),
	],
	operations: [
		{
			value: 'getAll',
			name: 'Get Many',
			action: 'Get many models',
			description: 'Get many models with their IDs, if the service lists them',
			subtitle: 'Get Many Models',
			work: {
				kind: 'reads',
				async read(from, fields) {
					const type = fields.choice(fields.raw('modelType'), 'Model Type', ['image', 'speech']);
					const list = lists[type === 'image' ? 'searchImageModels' : 'searchSpeechModels'];
					const models = await readList(from, list, { limit: Infinity });
					return models.map(({ value, record }) => ({ ...record, model_id: value }));
				},
			},
		},
	],
};
