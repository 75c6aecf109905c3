package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
)

// The images that a kubelet lists in its status by default.
const images = 50

// standNodes creates the nodes and returns what renews the status of one of them, as a kubelet does to which nothing
// happens: the times of the heartbeats are new.
func standNodes(nodes typed.NodeInterface, count int) func(turn int) {
	standing := make([]*corev1.Node, count)
	each(count, func(number int) { standing[number] = createNode(nodes, number) })
	return func(turn int) { renew(nodes, standing[turn%count]) }
}

func createNode(nodes typed.NodeInterface, number int) *corev1.Node {
	name := fmt.Sprintf("ip-10-%d-%d.example.internal", number/256, number%256)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "kubernetes.io/hostname": name,
		"node.kubernetes.io/instance-type": "m6i.2xlarge", "topology.kubernetes.io/region": "eu-central-1",
		"topology.kubernetes.io/zone": fmt.Sprintf("eu-central-1%c", 'a'+number%3),
		"eks.amazonaws.com/nodegroup": fmt.Sprintf("pool-%d", number%8),
	}}}
	created, err := nodes.Create(context.Background(), node, metav1.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	created.Status = status(number)
	renew(nodes, created)
	return created
}

func status(number int) corev1.NodeStatus {
	resources := corev1.ResourceList{"cpu": resource.MustParse("8"), "memory": resource.MustParse("32Gi"),
		"ephemeral-storage": resource.MustParse("100Gi"), "pods": resource.MustParse("58")}
	found := corev1.NodeStatus{Capacity: resources, Allocatable: resources, NodeInfo: corev1.NodeSystemInfo{
		Architecture: "amd64", OperatingSystem: "linux", OSImage: "Amazon Linux 2023", KernelVersion: "6.1.112",
		ContainerRuntimeVersion: "containerd://2.1.4", KubeletVersion: "v1.37.1"},
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.0.%d.%d", number/256, number%256)}}}
	for _, kind := range []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure, corev1.NodeReady} {
		state := corev1.ConditionFalse
		if kind == corev1.NodeReady {
			state = corev1.ConditionTrue
		}
		found.Conditions = append(found.Conditions, corev1.NodeCondition{Type: kind, Status: state, Reason: "Kubelet" + string(kind),
			Message: "kubelet has reported it", LastTransitionTime: metav1.Now()})
	}
	for image := range images {
		digest := sha256.Sum256(fmt.Append(nil, image))
		repository := fmt.Sprintf("registry.example.com/team-%d/service-%d", image%10, image)
		found.Images = append(found.Images, corev1.ContainerImage{SizeBytes: int64(image+1) << 20, Names: []string{
			fmt.Sprintf("%s@sha256:%x", repository, digest), fmt.Sprintf("%s:v1.%d.0", repository, image)}})
	}
	return found
}

func renew(nodes typed.NodeInterface, node *corev1.Node) {
	next := node.DeepCopy()
	next.ResourceVersion = ""
	for index := range next.Status.Conditions {
		next.Status.Conditions[index].LastHeartbeatTime = metav1.Now()
	}
	if _, err := nodes.UpdateStatus(context.Background(), next, metav1.UpdateOptions{}); err != nil {
		log.Print(err)
	}
}
