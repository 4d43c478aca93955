export { createKubernetesDriver } from './kubernetes-driver.ts';
