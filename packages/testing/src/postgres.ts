export { nameSharedPostgres, PostgresCluster, sharedPostgres } from './postgres-cluster.ts';
