// Command hollow-node is one Kubernetes node without a container runtime: the
// real kubelet, assembled from Kubernetes' kubemark package, over a runtime in
// memory (runtime.go). Unlike the stock kubemark program it listens on nothing,
// leaves iptables alone, runs the real prober, sends the kubelet's Events to the
// API server, and its containers can end.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	utillabels "k8s.io/apimachinery/pkg/labels"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	apitest "k8s.io/cri-api/pkg/apis/testing"
	"k8s.io/klog/v2"
	kubeletapp "k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	cadvisortest "k8s.io/kubernetes/pkg/kubelet/cadvisor/testing"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubemark"
)

// A kubelet's defaults (eventRecordQPS, eventBurst).
const (
	eventQPS   = 50
	eventBurst = 100
)

// imageSize is that of every image, in bytes.
const imageSize = 123456789

func main() {
	name := flag.String("name", "hollow-0", "name of the node")
	kubeconfig := flag.String("kubeconfig", "", "how to reach the API server")
	labels := flag.String("labels", "type=hollow", "labels of the node, KEY=VALUE,...")
	maxPods := flag.Int("max-pods", 500, "how many pods the node takes")
	manifests := flag.String("manifests", "", "directory of static pods, empty for none")
	sandboxes := flag.String("sandboxes", "", "file to append to when each sandbox became ready, empty for none")
	klog.InitFlags(nil)
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	root, err := run(ctx, *name, *kubeconfig, *manifests, *labels, *sandboxes, *maxPods)
	if root != "" {
		defer os.RemoveAll(root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hollow-node:", err)
		if root != "" {
			os.RemoveAll(root)
		}
		os.Exit(1)
	}
}

// run starts the kubelet and waits for the end of ctx. It returns the kubelet's
// root directory, for the caller to remove.
func run(ctx context.Context, name, kubeconfig, manifests, labels, sandboxes string, maxPods int) (string, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return "", fmt.Errorf("kubeconfig %s: %w", kubeconfig, err)
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.UserAgent = "hollow-node"
	config.QPS, config.Burst = 200, 400
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return "", err
	}
	heartbeat := *config
	heartbeat.QPS, heartbeat.Timeout = -1, 5*time.Second
	heartbeatClient, err := clientset.NewForConfig(&heartbeat)
	if err != nil {
		return "", err
	}
	// As many Events as a real kubelet sends by default, so that as many are dropped.
	events := *config
	events.QPS, events.Burst = eventQPS, eventBurst
	eventClient, err := clientset.NewForConfig(&events)
	if err != nil {
		return "", err
	}

	nodeLabels, err := utillabels.ConvertSelectorToLabelsMap(labels)
	if err != nil {
		return "", fmt.Errorf("-labels %s: %w", labels, err)
	}
	flags, settings := kubemark.GetHollowKubeletConfig(&kubemark.HollowKubeletOptions{
		NodeName:   name,
		MaxPods:    maxPods,
		NodeLabels: nodeLabels,
	})
	settings.Address = "127.0.0.1"
	settings.EnableServer = false
	settings.MakeIPTablesUtilChains = false
	settings.SerializeImagePulls = false
	// Without one the kubelet warns of every pod.
	settings.ClusterDNS = []string{"10.96.0.10"}
	settings.RegistryPullQPS = 0 // no limit: a refused pull backs off for ten seconds and more
	settings.NodeStatusUpdateFrequency.Duration = time.Second
	settings.SyncFrequency.Duration = 5 * time.Second
	settings.NodeLeaseDurationSeconds = 8
	settings.FileCheckFrequency.Duration = time.Second
	if manifests != "" {
		settings.StaticPodPath, err = filepath.Abs(manifests)
		if err != nil {
			return flags.RootDirectory, err
		}
	}

	containers, err := newRuntime(sandboxes)
	if err != nil {
		return flags.RootDirectory, err
	}
	images := &imageService{FakeImageService: apitest.NewFakeImageService()}
	images.SetFakeImageSize(imageSize)
	hollow := kubemark.NewHollowKubelet(flags, settings, client, heartbeatClient,
		&cadvisortest.Fake{NodeName: name}, images, containers, cm.NewStubContainerManager())
	// nil asks the kubelet for its real prober; kubemark's fake one reports every
	// container ready, running or not.
	hollow.KubeletDeps.ProbeManager = nil
	// And for its real event recorder; kubemark's fake one says nothing to nobody.
	hollow.KubeletDeps.Recorder = nil
	hollow.KubeletDeps.EventClient = eventClient.CoreV1()
	server := &options.KubeletServer{
		KubeletFlags:         *hollow.KubeletFlags,
		KubeletConfiguration: *hollow.KubeletConfiguration,
	}
	if err := kubeletapp.RunKubelet(ctx, server, hollow.KubeletDeps); err != nil {
		return flags.RootDirectory, err
	}
	<-ctx.Done()
	return flags.RootDirectory, nil
}
